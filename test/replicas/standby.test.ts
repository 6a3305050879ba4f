// The synchronous standby stops, so no commit is confirmed; then the primary is lost for good and the standby takes
// over with what it has. Whatever was acknowledged in between must be there: a revocation, a credit, a charge
// (money.md §7). Each test has its own servers and mostly waits for them, so they run concurrently.
import { expect, test } from "bun:test";
import pg from "pg";
import { CuttingProxy } from "../support/cutting-proxy.ts";
import { PostgresServer } from "../support/postgres.ts";
import { type ProcessGateway } from "../support/process-gateway.ts";
import { Replicas } from "../support/replicas.ts";
import { reads, waitFor } from "../support/wait.ts";

const ask = { model: "plain-1", messages: [{ role: "user", content: "Hello" }], max_tokens: 50 };

interface Installation {
  primary: PostgresServer;
  standby: PostgresServer;
  gateway: ProcessGateway;
  /** Another gateway on the same database. */
  other: ProcessGateway;
  /** Until a commit waits for the standby. */
  untilWaiting(this: void): Promise<void>;
  /** Cancels commits' waits for the standby, as an operator in distress would: from then on the primary shows them. */
  cancelWaits(this: void): Promise<void>;
  /** The primary is lost for good, the standby takes over with what it has. */
  failOver(this: void): Promise<void>;
}

async function withStandby(run: (on: Installation) => Promise<void>): Promise<void> {
  const primary = await PostgresServer.start();
  const standby = await primary.standby();
  const { url } = await primary.migrated();
  const admin = new pg.Client({ connectionString: url });
  admin.on("error", () => {});
  await admin.connect();
  // As some set it for quiet logs: an unconfirmed commit is a warning.
  const [found] = (await admin.query<{ name: string }>("SELECT current_database() AS name")).rows;
  await admin.query(`ALTER DATABASE "${found?.name}" SET client_min_messages = error`);
  const proxy = await CuttingProxy.start(url);
  const database = { url: proxy.through(url), drop: async () => {} };
  const replicas = await Replicas.start(2, { migrated: async () => database });
  const untilWaiting = (): Promise<void> =>
    waitFor(
      async () =>
        (await admin.query("SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep'")).rows.length > 0,
      "a commit that waits for the standby",
    );
  const cancelWaits = async (): Promise<void> => {
    const waits = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    while (((await admin.query(waits)).rowCount ?? 0) > 0) await Bun.sleep(20);
  };
  const failOver = async (): Promise<void> => {
    await primary.crash();
    await standby.begin();
    await standby.promote();
    proxy.moveTo(standby.url);
    while ((await replicas.first.get("/readyz")).status !== 200) await Bun.sleep(50);
  };
  try {
    await run({
      primary,
      standby,
      gateway: replicas.first,
      other: replicas.at(1),
      untilWaiting,
      cancelWaits,
      failOver,
    });
  } finally {
    await admin.end().catch(() => {});
    await replicas.stop();
    await proxy.stop();
    await standby.stop();
    await primary.stop();
  }
}

/** The status of an operator's call. */
const statusOf = (calling: Promise<unknown>): Promise<number> =>
  calling.then(
    () => 200,
    (error: Error) => Number(/: (\d{3}) /.exec(error.message)?.[1]),
  );

test.concurrent("a revocation that the standby has not confirmed is not acknowledged, nor is its repetition", async () => {
  await withStandby(async ({ standby, gateway, cancelWaits, failOver }) => {
    const { organizationId } = await gateway.customer();
    const { id, secret } = await gateway.admin<{ id: string; secret: string }>("POST", "/keys", {
      org: organizationId,
      name: "to revoke",
    });
    expect((await gateway.chat(secret, ask)).status).toBe(200);
    await standby.crash();
    const revoke = (): Promise<number> => statusOf(gateway.admin("POST", `/keys/${id}/revoke`));
    const told = [await revoke()];
    await cancelWaits();
    told.push(await revoke());
    await failOver();
    const after = (await gateway.chat(secret, ask)).status;
    expect({ told, after }).toEqual({ told: [503, 503], after: 200 });
    expect(await revoke()).toBe(200);
    expect((await gateway.chat(secret, ask)).status).toBe(401);
  });
}, 240_000);

test.concurrent("a credit that the standby has not confirmed is not acknowledged, nor is its repetition; finally it counts once", async () => {
  await withStandby(async ({ standby, gateway, other, cancelWaits, failOver }) => {
    const { organizationId: org } = await gateway.customer();
    const credit = (at: ProcessGateway): Promise<number> =>
      statusOf(at.admin("POST", "/credits", { org, usd: "7", kind: "purchase", reference: "inv-7" }));
    await standby.crash();
    const told = [await credit(gateway)];
    await cancelWaits();
    told.push(await credit(other));
    await failOver();
    expect(told).toEqual([503, 503]);
    expect(await credit(gateway)).toBe(200);
    // That one was waited for; the other one recovers in its own time.
    await reads(() => credit(other), 200);
    expect(await gateway.admin("GET", `/credits?org=${org}`)).toMatchObject({
      available_usd: "12.000000000",
    });
    expect(await gateway.admin("GET", "/ledger/audit")).toMatchObject({ ok: true });
  });
}, 240_000);

test.concurrent("an answer whose charge the standby has not confirmed is not returned, not even from the store", async () => {
  await withStandby(async ({ standby, gateway, other, untilWaiting, cancelWaits, failOver }) => {
    const { secret } = await gateway.customer();
    const headers = { "idempotency-key": "stalled-standby" };
    await fetch(`${gateway.simulator.url}/_sim`, {
      method: "POST",
      body: JSON.stringify({ behaviour: { until_well: true } }),
    });
    const first = gateway.chat(secret, ask, headers);
    const call = () => gateway.simulator.bill().at(-1)?.outcome;
    await waitFor(async () => call() === "running", "the call");
    await standby.crash();
    gateway.simulator.behaveWell();
    await waitFor(async () => call() === "finished", "its answer");
    await untilWaiting(); // its charge, for the standby
    await cancelWaits();
    const again = await other.chat(secret, ask, headers);
    await failOver();
    expect([again.status, again.text.includes('"choices"')]).not.toEqual([200, true]);
    // It waited for the standby, and its figures are from a ledger that will keep them.
    const { status, text } = await first;
    const retry = await gateway.chat(secret, ask, headers);
    expect([status, retry.status, retry.text]).toEqual([200, 200, text]);
    expect(await gateway.admin("GET", "/ledger/audit")).toMatchObject({ ok: true });
  });
}, 240_000);

test.concurrent("a commit whose wait for the standby is canceled is not acknowledged", async () => {
  await withStandby(async ({ standby, gateway, cancelWaits, failOver }) => {
    const { organizationId: org, secret } = await gateway.customer();
    await standby.crash();
    let cancelling = true;
    const cancelled = (async () => {
      for (; cancelling; await Bun.sleep(50)) await cancelWaits();
    })();
    const answer = gateway.chat(secret, ask);
    const credit = statusOf(
      gateway.admin("POST", "/credits", { org, usd: "7", kind: "grant", reference: "r" }),
    );
    const told = [(await answer).status, await credit];

    cancelling = false;
    await cancelled;
    await failOver();
    expect(told).toEqual([503, 503]);
    expect(await gateway.admin("GET", "/ledger/audit")).toMatchObject({ ok: true });
  });
}, 240_000);
