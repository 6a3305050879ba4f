// After the last step, every gateway is started again without a crash point, everything hanging may end, and then
// each caller's key that the ledger knows is retried once, because that is what callers do after an outage.
import { formatUsd, nanoUsd } from "../src/domain/money.ts";
import { send } from "./caller.ts";
import type { Exchange } from "./history.ts";
import { MINIMUM_NANO } from "./models.ts";
import { asked } from "./operator.ts";
import type { PlannedRequest } from "./plan.ts";
import { checkout, type World } from "./world.ts";
import type { AuditJson, BalanceJson } from "./evidence.ts";

const QUIET_WITHIN_MS = 45_000;
const RETRIES_AT_ONCE = 24;
/** The newest of them; retrying all keys of a long run would take too long. */
const RETRIES = 2_000;

export async function heal(world: World, quietWithinMs = QUIET_WITHIN_MS): Promise<void> {
  for (const gateway of world.gateways) await gateway.heal();
  await quiet(world, quietWithinMs);
  await resolveQuarantined(world);
  await retryAll(world);
  await quiet(world, quietWithinMs);
}

/** Waits until no request is unfinished, or the time is over: the checks report what is left. */
async function quiet({ store }: World, withinMs: number): Promise<void> {
  for (const untilMs = performance.now() + withinMs; performance.now() < untilMs; await Bun.sleep(100)) {
    if ((await store.unfinished()) === 0) return;
  }
}

/** Resolves quarantined requests as an operator does: every other one costs its minimum, the rest nothing. */
async function resolveQuarantined({ operator, history }: World): Promise<void> {
  const { json } = await operator.call("GET", "/ledger/quarantine");
  for (const [n, { id }] of (json["data"] as { id: string }[]).entries()) {
    const charge = n % 2 === 0 ? null : formatUsd(nanoUsd(MINIMUM_NANO));
    await operator.change(asked(), "POST", `/ledger/quarantine/${id}/resolve`, {
      charge_usd: charge,
      reason: "torture: its stream does not open",
    });
    history.quarantined.add(id);
  }
}

async function retryAll({ store, history, balancer }: World): Promise<void> {
  const known = new Set(
    (await store.requests()).map(({ keyId, idempotencyKey }) => `${keyId} ${idempotencyKey}`),
  );
  const requests = new Map<number, PlannedRequest>();
  for (const { request } of history.exchanges) {
    const keyId = history.keys.get(request.key)?.keyId;
    if (request.idempotencyKey !== null && known.has(`${keyId} ${request.idempotencyKey}`))
      requests.set(request.id, request);
  }
  const waiting = [...requests.values()].slice(-RETRIES);
  const worker = async (): Promise<void> => {
    for (let request = waiting.pop(); request !== undefined; request = waiting.pop())
      history.exchanges.push(await retry(request));
  };
  const retry = (request: PlannedRequest): Promise<Exchange> =>
    send({
      gateway: balancer.next(request.id),
      secret: history.keys.get(request.key)?.secret ?? "",
      kind: "repeat",
      request,
      leave: null,
      after: null,
      healed: true,
    });
  await Promise.all(Array.from({ length: RETRIES_AT_ONCE }, worker));
}

/** Runs `./tollgate ledger audit --json`, as an operator does. */
export async function audit({ gateways, program }: World): Promise<AuditJson> {
  const child = Bun.spawn([program, "ledger", "audit", "--json"], {
    cwd: checkout,
    env: { ...process.env, TOLLGATE_DATA_DIR: gateways[0]?.files.dataDir },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, complaint] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  const code = await child.exited;
  if (out === "") throw new Error(`ledger audit printed nothing: ${complaint}`);
  const report = JSON.parse(out) as AuditJson;
  if ((code === 0) !== (report.ok === true)) throw new Error(`ledger audit exited with ${code} for ${out}`);
  return report;
}

export async function finalBalances({ operator, history }: World): Promise<Map<number, BalanceJson>> {
  const balances = new Map<number, BalanceJson>();
  for (const { plan, organizationId } of history.customers.values()) {
    const { json } = await operator.call("GET", `/credits?org=${organizationId}`);
    balances.set(plan, json as BalanceJson);
  }
  return balances;
}
