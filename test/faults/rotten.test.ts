// One damaged record, in the real server: a stream with a caller's key is cut by kill -9, one bit of its stored part
// flips, and every gateway starts, keeps running and serves. An operator ends the request with the command line.
// Also, an error thrown outside of any request ends no process.
import { Database } from "bun:sqlite";
import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { type TestDatabase, testPostgres } from "../support/postgres.ts";
import { ProcessGateway, untilParts } from "../support/process-gateway.ts";
import { waitFor } from "../support/wait.ts";

const KEY = { "idempotency-key": "rotten-test-1" };
const LOUD = { TOLLGATE_LOG_LEVEL: "error" };
const ask = (more: object = {}): object => ({
  model: "plain-1",
  messages: [{ role: "user", content: "Tell me something long" }],
  max_tokens: 400,
  ...more,
});

const databases: TestDatabase[] = [];
afterAll(async () => {
  for (const database of databases) await database.drop();
});

interface Store {
  env: Record<string, string>;
  /** Flips one bit of one sealed part. */
  flip(gateway: ProcessGateway): Promise<void>;
}

const STORES: [string, () => Promise<Store>][] = [
  [
    "SQLite",
    async () => ({
      env: {},
      flip: async ({ folder }) => {
        const database = new Database(join(folder, "data/tollgate.sqlite"));
        const [row] = database
          .query("SELECT request_id, sealed FROM stream_chunk WHERE seq = 0")
          .values() as [string, Uint8Array][];
        if (row === undefined) throw new Error("no part was kept");
        row[1][20] = (row[1][20] ?? 0) ^ 1;
        database.query("UPDATE stream_chunk SET sealed = ?2 WHERE request_id = ?1 AND seq = 0").run(...row);
        database.close();
      },
    }),
  ],
  [
    "PostgreSQL",
    async () => {
      const database = await (await testPostgres()).migrated();
      databases.push(database);
      return {
        env: { DATABASE_URL: database.url },
        flip: async () => {
          const client = new pg.Client({ connectionString: database.url });
          await client.connect();
          const { rowCount } = await client.query(
            "UPDATE stream_chunk SET sealed = set_bit(sealed, 160, 1 - get_bit(sealed, 160)) WHERE seq = 0",
          );
          await client.end();
          if (rowCount !== 1) throw new Error("no part was kept");
        },
      };
    },
  ],
];

describe.each(STORES)("%s", (name, open) => {
  test("one flipped bit: every gateway serves on, the request waits for an operator, who charges it", async () => {
    const store = await open();
    const { env } = store;
    const gateway = await ProcessGateway.start({ ...env, ...LOUD });
    const healthy = name === "SQLite" ? null : await gateway.beside({ ...env, ...LOUD });
    try {
      await fetch(`${gateway.simulator.url}/_sim`, {
        method: "POST",
        body: JSON.stringify({ behaviour: { tokens_per_second: 40, completion_tokens: 400 } }),
      });
      const customer = await gateway.customer();
      const stream = gateway.listen(customer.secret, ask({ stream: true }), KEY);
      await untilParts([stream], 60);
      // A client that follows it elsewhere, past the part to be damaged.
      const follower = healthy?.listen(customer.secret, ask({ stream: true }), KEY) ?? null;
      if (follower !== null) await untilParts([follower], 60);
      await gateway.kill();
      const first = await stream.ended;
      await store.flip(gateway);
      await fetch(`${gateway.simulator.url}/_sim`, {
        method: "POST",
        body: JSON.stringify({ behaviour: {} }),
      });

      await gateway.run({ ...env, ...LOUD });
      const requestId = first.headers.get("x-request-id") ?? "";
      const listed = await gateway.admin<{ data: { id: string; reason: string; held_usd: string }[] }>(
        "GET",
        "/ledger/quarantine",
      );
      expect(listed.data).toEqual([expect.objectContaining({ id: requestId })]);
      expect(listed.data[0]?.reason).toContain("part 0");
      if (follower !== null) {
        const { text, whole } = await follower.ended;
        expect([whole, text.includes("[DONE]"), text.includes('"error":')]).toEqual([true, false, true]);
      }
      for (const serving of [gateway, healthy]) {
        if (serving === null) continue;
        expect((await serving.chat(customer.secret, ask())).status).toBe(200);
        const retry = await serving.chat(customer.secret, ask({ stream: true }), KEY);
        expect([retry.status, retry.text]).toEqual([
          409,
          expect.stringContaining("idempotency_outcome_unknown"),
        ]);
        expect((await serving.get("/readyz")).status).toBe(200);
      }
      await waitFor(
        async () => gateway.log.includes(`request ${requestId} is quarantined`),
        "the alarm in the log",
      );
      const { text } = await gateway.get("/metrics");
      expect(text).toContain("tollgate_quarantined_requests 1");
      expect(text).toContain('tollgate_failed_jobs_total{task="ledger_recovery"} 1');
      expect(await gateway.admin("GET", "/ledger/audit")).toMatchObject({ ok: true });

      const cli = (...words: string[]) => gateway.cli(env, ...words);
      const doctor = await cli("doctor", "--json");
      expect(doctor.stdout).toContain(requestId);
      const listing = await cli("ledger", "quarantine");
      expect(listing.stdout).toContain(requestId);
      const tooMuch = await cli("ledger", "resolve", requestId, "--settle", "4", "--reason", "all of it");
      expect([tooMuch.code, tooMuch.stderr]).toEqual([1, expect.stringContaining("held")]);
      const resolved = await cli(
        "ledger",
        "resolve",
        requestId,
        "--settle",
        "0.00001",
        "--reason",
        "as its client saw",
      );
      expect([resolved.code, resolved.stderr]).toEqual([0, ""]);
      const twice = await cli("ledger", "resolve", requestId, "--release", "--reason", "once more");
      expect([twice.code, twice.stderr]).toEqual([1, expect.stringContaining("quarantine")]);
      const credits = await gateway.admin("GET", `/credits?org=${customer.organizationId}`);
      expect(credits).toMatchObject({ held_usd: "0.000000000" });
      expect(await gateway.admin("GET", `/requests/${requestId}`)).toMatchObject({
        state: "settled",
        charge_usd: "0.000010000",
      });
      expect(await gateway.admin("GET", "/ledger/audit")).toMatchObject({ ok: true, violations: [] });
      const receipt = await gateway.get(`/v1/receipts/${requestId}`, {
        authorization: `Bearer ${customer.secret}`,
      });
      const file = join(gateway.folder, "receipt.json");
      writeFileSync(file, receipt.text);
      const jwks = join(gateway.folder, "jwks.json");
      writeFileSync(jwks, (await gateway.get("/.well-known/jwks.json")).text);
      const verified = await cli("receipt", "verify", file, "--jwks", jwks);
      expect([verified.code, verified.stdout]).toEqual([0, expect.stringContaining("operator")]);
      expect((await gateway.get("/metrics")).status).toBe(200);
      expect(gateway.exitCode).toBeNull();
      if (healthy !== null) expect(healthy.exitCode).toBeNull();
    } finally {
      await healthy?.stop();
      await gateway.stop();
    }
  }, 240_000);
});

test("what is thrown where nobody waits for it is a line in the log and a count, and the gateway serves on", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-stray-"));
  const stray = join(folder, "stray.ts");
  const go = join(folder, "go");
  writeFileSync(
    stray,
    `import { existsSync } from "node:fs";
     const aborted = new AbortController();
     aborted.signal.addEventListener("abort", () => { throw new Error("thrown by a listener") });
     const waiting = setInterval(() => {
       if (!Bun.isMainThread || !existsSync(${JSON.stringify(go)})) return;
       clearInterval(waiting);
       setTimeout(() => { throw new Error("thrown by a timer") });
       setTimeout(() => void Promise.reject(new Error("rejected on the side")));
       setTimeout(() => aborted.abort());
     }, 20);
     waiting.unref();`,
  );
  const gateway = await ProcessGateway.start({ ...LOUD, BUN_OPTIONS: `--preload=${stray}` });
  try {
    await fetch(`${gateway.simulator.url}/_sim`, {
      method: "POST",
      body: JSON.stringify({ behaviour: { tokens_per_second: 40, completion_tokens: 80 } }),
    });
    const { secret } = await gateway.customer();
    const running = gateway.listen(secret, ask({ stream: true }));
    await untilParts([running], 10);
    writeFileSync(go, "");
    const said = ["thrown by a timer", "rejected on the side", "thrown by a listener"];
    await waitFor(async () => said.every((words) => gateway.log.includes(words)), "three lines");
    expect((await running.ended).text).toContain("[DONE]"); // it cut nobody's stream
    expect((await gateway.chat(secret, ask())).status).toBe(200);
    const { text } = await gateway.get("/metrics");
    expect(text).toContain('tollgate_failed_jobs_total{task="unhandled_rejection"} 1');
    expect(text).toContain('tollgate_failed_jobs_total{task="uncaught_exception"} 2');
    expect(gateway.exitCode).toBeNull();
  } finally {
    await gateway.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}, 240_000);
