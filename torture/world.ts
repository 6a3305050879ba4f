// Everything a run is played on: a temporary directory, the simulator, the gateways with their store, signed releases
// of every model, organizations with their credits and first keys. `close` ends every process that it started.
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DATA_KEY_FILE } from "../src/domain/data-files.ts";
import { DAY_MS } from "../src/domain/durations.ts";
import { formatUsd, nanoUsd } from "../src/domain/money.ts";
import { generateReleaseKey, readReleaseKey, type ReleaseKey } from "../src/releases/release-key.ts";
import { ClientBalancer } from "./client-balancer.ts";
import { freePort, type GatewayFiles, GatewayProcess } from "./gateway-process.ts";
import { type CustomerFacts, History } from "./history.ts";
import { MODELS, PROVIDERS, RESEARCH } from "./models.ts";
import { asked, Operator } from "./operator.ts";
import type { Plan, PlannedCustomer, PlannedKey } from "./plan.ts";
import { ReleasePublisher } from "./release-publisher.ts";
import { SimulatorProcess } from "./simulator-process.ts";
import { PostgresStore } from "./postgres-store.ts";
import { SqliteStore } from "./sqlite-store.ts";
import { StartGate } from "./start-gate.ts";
import { secondPerson } from "./second-person.ts";

export const checkout = join(import.meta.dir, "..");
const SOURCES = join(checkout, "tollgate");

type Store = SqliteStore | PostgresStore;

export interface World {
  directory: string;
  /** What the gateways run. */
  program: string;
  gateways: GatewayProcess[];
  balancer: ClientBalancer;
  startGate: StartGate;
  simulator: SimulatorProcess;
  store: Store;
  operator: Operator;
  /** Approves what `operator` requested. */
  second: Operator;
  publisher: ReleasePublisher;
  history: History;
  close(options: { keep: boolean }): Promise<void>;
}

const OFFERED_WITHIN_MS = 10_000;
/** How many calls of one key may be unsettled, on all gateways together. */
export const KEY_CONCURRENT = 40;
/** The rate limit of one key of the plan, on all gateways together. */
export const RATED = { key: 0, requests: 20, tokens: 20_000 };

export interface Database {
  gateways: number;
  /** True if a synchronous standby takes over once. */
  standby: boolean;
  /** True if the gateways reach it through a PgBouncer in session mode. */
  pgbouncer?: boolean;
}

export interface Ground {
  /** The program that the gateways run; default: the checkout's, from its sources. */
  program?: string;
  /** The program that the simulator runs; default: the checkout's, too. */
  simulator?: string;
  /** A database shared by this many gateways; default: one gateway on its embedded store. */
  database?: Database;
}

export async function openWorld(plan: Plan, ground: Ground = {}): Promise<World> {
  const { program = SOURCES, simulator: provider = SOURCES, database } = ground;
  const directory = mkdtempSync(join(tmpdir(), "tollgate-torture-"));
  const history = new History();
  const startGate = new StartGate();
  const dataDirs = Array.from({ length: database?.gateways ?? 1 }, (_, n) => join(directory, `data-${n}`));
  for (const dataDir of dataDirs) mkdirSync(dataDir, { mode: 0o700 });
  const store: Store =
    database === undefined ? new SqliteStore(dataDirs[0] ?? "") : await PostgresStore.start(database);
  const signer = await makeSigner(directory);
  const simulatorFiles = { program: provider, port: freePort(), log: join(directory, "simulator.log") };
  const gateways = dataDirs.map((dataDir, number) => {
    const files = filesOf(directory, { program, dataDir, number });
    const places = { gateway: files.port, simulator: simulatorFiles.port, dataDir, store };
    writeFileSync(files.settings, settingsOf({ ...places, trust: join(directory, "trust.jwk") }));
    return new GatewayProcess(files, history, startGate);
  });
  const simulator = await SimulatorProcess.start(simulatorFiles, history);
  const balancer = new ClientBalancer(gateways);
  const operator = new Operator(balancer);
  const world: World = {
    directory,
    program,
    gateways,
    balancer,
    startGate,
    simulator,
    store,
    operator,
    second: operator,
    publisher: new ReleasePublisher(operator, history, signer),
    history,
    close: async ({ keep }) => {
      await Promise.all([simulator.stop(), ...gateways.map((gateway) => gateway.stop())]);
      await store.close();
      if (!keep) rmSync(directory, { recursive: true, force: true });
    },
  };
  try {
    await startAll(gateways);
    if (gateways[0] !== undefined) world.second = new Operator(balancer, await secondPerson(gateways[0]));
    for (const model of MODELS) await world.publisher.publish(model);
    await openAccounts(world, plan);
    await Promise.all(gateways.map((gateway) => offered(gateway, history)));
  } catch (error) {
    await world.close({ keep: true });
    throw error;
  }
  return world;
}

const filesOf = (
  directory: string,
  { program, dataDir, number }: { program: string; dataDir: string; number: number },
): GatewayFiles => ({
  number,
  program,
  dataDir,
  settings: join(directory, `tollgate-${number}.yaml`),
  log: join(directory, `gateway-${number}.log`),
  port: freePort(),
});

/** The first gateway makes the installation's data key; the others get a copy. */
async function startAll([first, ...others]: GatewayProcess[]): Promise<void> {
  await first?.start();
  const key = (gateway: GatewayProcess | undefined): string =>
    join(gateway?.files.dataDir ?? "", DATA_KEY_FILE);
  for (const other of others) copyFileSync(key(first), key(other));
  await Promise.all(others.map((other) => other.start()));
}

/** Waits until this gateway has learned of the releases, too: a new model takes a moment to be offered everywhere. */
async function offered({ url, number }: GatewayProcess, { keys }: History): Promise<void> {
  const secrets = [...keys.values()].map(({ secret }) => secret);
  for (
    const untilMs = performance.now() + OFFERED_WITHIN_MS;
    performance.now() < untilMs;
    await Bun.sleep(20)
  ) {
    const lists = secrets.map(async (secret) => {
      const headers = { authorization: `Bearer ${secret}` };
      return await (await fetch(`${url}/v1/models`, { headers })).text();
    });
    const text = (await Promise.all(lists)).join();
    if (MODELS.every(({ name }) => text.includes(`"${name}"`))) return;
  }
  throw new Error(`gateway ${number} does not offer every model`);
}

async function openAccounts({ operator, second, history }: World, plan: Plan): Promise<void> {
  for (const { id, kind, nano } of plan.customers) {
    const made = await operator.change(asked(), "POST", "/organizations", { name: `customer ${id}` });
    const organizationId = String(made["id"]);
    const reference = `opening-${id}`;
    const grant = { org: organizationId, usd: formatUsd(nanoUsd(nano)), kind: "purchase", reference };
    await operator.change(asked(), "POST", "/credits", grant);
    const credited = new Map([[reference, nano]]);
    const facts: CustomerFacts = { plan: id, kind, organizationId, entitlementId: null, credited };
    history.customers.set(id, facts);
    if (kind === "research") await entitle({ operator, second }, facts);
  }
  for (const key of plan.keys) await openKey({ operator, history }, key, plan.customers);
}

const LIMIT_OF = { month: "limit_usd", week: "week_limit_usd", day: "day_limit_usd" };

export async function openKey(
  { operator, history }: Pick<World, "operator" | "history">,
  { id, customer, limitNano, period, endsInMs }: PlannedKey,
  customers: readonly PlannedCustomer[],
): Promise<void> {
  const facts = history.customers.get(customer);
  if (facts === undefined) throw new Error(`no customer ${customer}`);
  const wanted = {
    org: facts.organizationId,
    name: `key ${id}`,
    scope: customers[customer]?.kind === "research" ? "research" : "standard",
    [LIMIT_OF[period]]: limitNano === null ? null : formatUsd(nanoUsd(limitNano)),
  };
  const { made, expiresAtMs } = await madeKey(operator, wanted, endsInMs);
  if (id === RATED.key)
    await operator.change(asked(), "POST", "/limits", {
      key: String(made["id"]),
      requests_per_minute: RATED.requests,
      tokens_per_minute: RATED.tokens,
    });
  history.keys.set(id, {
    plan: id,
    customer,
    limits: [limitNano],
    period,
    revoked: null,
    pauses: [],
    expiresAtMs,
    keyId: String(made["id"]),
    secret: String(made["secret"]),
  });
}

/** Requested again with a later expiry if the gateways were away for longer than the key was to live. */
async function madeKey(operator: Operator, wanted: object, endsInMs: number | null) {
  for (;;) {
    const expiresAtMs = endsInMs === null ? null : Date.now() + endsInMs;
    const expires_at = expiresAtMs === null ? null : new Date(expiresAtMs).toISOString();
    try {
      return {
        made: await operator.change(asked(), "POST", "/keys", { ...wanted, expires_at }),
        expiresAtMs,
      };
    } catch (error) {
      if (expiresAtMs === null || Date.now() < expiresAtMs) throw error;
    }
  }
}

/** Requests an entitlement to the Research Mode model; the second person approves it. */
export async function entitle(
  { operator, second }: Pick<World, "operator" | "second">,
  customer: CustomerFacts,
): Promise<void> {
  const wanted = { org: customer.organizationId, model: RESEARCH, project: "torture" };
  const id = String((await operator.change(asked(), "POST", "/entitlements", wanted))["id"]);
  const expires = new Date(Math.ceil(Date.now() / 1000) * 1000 + 30 * DAY_MS).toISOString();
  await second.change(asked(), "POST", `/entitlements/${id}/approve`, { expires });
  customer.entitlementId = id;
}

async function makeSigner(directory: string): Promise<ReleaseKey> {
  const { privateJwk, publicJwk } = await generateReleaseKey();
  writeFileSync(join(directory, "trust.jwk"), JSON.stringify(publicJwk));
  return await readReleaseKey(privateJwk);
}

interface Places {
  gateway: number;
  simulator: number;
  dataDir: string;
  trust: string;
  store: Store;
}

/**
 * Short timeouts, so that a silent provider costs a run only seconds; circuits that never open, so that faults keep
 * coming.
 */
const settingsOf = (places: Places): string => `
listen: { host: 127.0.0.1, port: ${places.gateway} }
data_dir: ${places.dataDir}
${places.store.settings}
limits: { answer_timeout_ms: 15000, request_timeout_ms: 20000, key_concurrent: ${KEY_CONCURRENT} }
idempotency: { attach_wait: 20s }
trust: { release_keys: [ ${places.trust} ] }
providers:
${Object.entries(PROVIDERS)
  .map(
    ([name, { path, ...own }]) => `  - name: ${name}
    base_url: http://127.0.0.1:${places.simulator}${path}
    health: { probe: null, open_after_failures: 1000 }
    timeouts: { connect_ms: 3000, first_token_ms: 3000, idle_ms: 3000, total_ms: 20000 }
${Object.entries(own)
  .map(([setting, value]) => `    ${setting}: ${JSON.stringify(value)}`)
  .join("\n")}`,
  )
  .join("\n")}
`;
