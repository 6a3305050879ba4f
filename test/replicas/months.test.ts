// The turn of a month during a long read, such as a dump: the next month's partition is made once possible, and no
// request waits for it meanwhile.
import { afterAll, beforeAll, expect, test } from "bun:test";
import pg from "pg";
import { hello, startGateway, type TestGateway } from "../support/gateway.ts";
import { waitFor } from "../support/wait.ts";

let gateway: TestGateway;
let reader: pg.Client;
beforeAll(async () => {
  let url = "";
  gateway = await startGateway({
    store: "postgres",
    configure: ({ databaseUrl }) => {
      url = databaseUrl ?? "";
    },
  });
  reader = new pg.Client({ connectionString: url });
  await reader.connect();
});
afterAll(async () => {
  await reader.end();
  await gateway.stop();
});

test("no request waits while a long read delays the making of a month's partition", async () => {
  const months = async (): Promise<string[]> =>
    (
      await reader.query<{ name: string }>(
        "SELECT relname AS name FROM pg_class WHERE relname ~ '^usage_hour_\\d' AND relkind = 'r' ORDER BY 1",
      )
    ).rows.map(({ name }) => name);
  const all = await months();
  const last = all.at(-1) ?? "none";
  await reader.query(`DROP TABLE ${last}`); // as before the turn of its month
  const sweptAtMs = (): number => gateway.ledger.pulse().sweptAtMs ?? 0;
  const customer = await gateway.customer();
  let usualMs = 0; // what a slow machine takes anyway
  for (let calls = 0; calls < 20; calls += 1) {
    const beganMs = performance.now();
    await gateway.chat(customer, hello());
    usualMs = Math.max(usualMs, performance.now() - beganMs);
  }
  await reader.query("BEGIN");
  await reader.query("SELECT count(*) FROM usage_hour");
  const fromMs = sweptAtMs();
  let [slowestMs, rounds, seen] = [0, 0, fromMs];
  while (rounds < 3) {
    const beganMs = performance.now();
    expect((await gateway.chat(customer, hello())).status).toBe(200);
    slowestMs = Math.max(slowestMs, performance.now() - beganMs);
    if (sweptAtMs() !== seen) [rounds, seen] = [rounds + 1, sweptAtMs()];
    await Bun.sleep(10); // each call notices a wait, however few there are
  }
  expect(await months()).toEqual(all.slice(0, -1));
  expect(slowestMs).toBeLessThan(1_000 + 2 * usualMs);
  await reader.query("COMMIT");
  await waitFor(async () => (await months()).includes(last), "the month");
  await gateway.assertSound();
}, 120_000);
