// A database whose clock is put forward, or a standby with another clock that takes over: leases that gateways
// renewed by the old time are not overdue by the new one before they could be renewed again (money.md §2).
import { afterAll, beforeAll, expect, test } from "bun:test";
import pg from "pg";
import { type TestDatabase, testPostgres } from "../support/postgres.ts";
import { ProcessGateway, untilParts } from "../support/process-gateway.ts";

let database: TestDatabase;
let admin: pg.Client;
let gateway: ProcessGateway;
let other: ProcessGateway;

/** Sessions opened from now on use this clock instead of the server's. */
const putForward = (hours: number): Promise<unknown> =>
  admin.query(`CREATE OR REPLACE FUNCTION public.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE
    AS $$ SELECT pg_catalog.clock_timestamp() + interval '${hours} hours' $$`);

beforeAll(async () => {
  database = await (await testPostgres()).migrated();
  admin = new pg.Client({ connectionString: database.url });
  await admin.connect();
  await putForward(0);
  const { rows } = await admin.query<{ name: string }>("SELECT current_database() AS name");
  await admin.query(`ALTER DATABASE "${rows[0]?.name}" SET search_path = public, pg_catalog`);
  gateway = await ProcessGateway.start({ DATABASE_URL: database.url });
  other = await gateway.beside({ DATABASE_URL: database.url });
}, 120_000);
afterAll(async () => {
  await other.stop();
  await gateway.stop();
  await admin.end();
  await database.drop();
});

test("putting the database's clock forward evicts no live gateway", async () => {
  const epochs = async (): Promise<unknown[]> =>
    (await admin.query("SELECT epoch, condemned FROM instance ORDER BY epoch")).rows;
  const { secret } = await gateway.customer();
  gateway.simulator.behave({ behaviour: { tokens_per_second: 10, completion_tokens: 250 } });
  const messages = [{ role: "user", content: "Hello" }];
  const ask = { model: "plain-1", messages, max_tokens: 250, stream: true };
  const streams = [gateway, other].map((one) => one.listen(secret, ask));
  await untilParts(streams, 3);
  const before = await epochs();
  // Somewhere between two renewals and two rounds of the upkeep.
  for (let hours = 1; hours <= 8; hours++) {
    await putForward(hours);
    await Bun.sleep(2_300);
  }
  const whole = await Promise.all(streams.map(({ ended }) => ended));
  expect(await epochs()).toEqual(before);
  expect(whole.map(({ text }) => text.endsWith("data: [DONE]\n\n"))).toEqual([true, true]);
}, 120_000);
