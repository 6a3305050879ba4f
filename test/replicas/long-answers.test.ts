// Calls that take longer than a client may take to send its headers are still answered, above all the audit of a
// large ledger.
import { afterAll, beforeAll, expect, test } from "bun:test";
import pg from "pg";
import { type TestDatabase, testPostgres } from "../support/postgres.ts";
import { ProcessGateway } from "../support/process-gateway.ts";

let database: TestDatabase;
let admin: pg.Client;
let gateway: ProcessGateway;
beforeAll(async () => {
  database = await (await testPostgres()).migrated();
  gateway = await ProcessGateway.start({ DATABASE_URL: database.url }, "limits: { header_timeout_ms: 1000 }");
  admin = new pg.Client({ connectionString: database.url });
  await admin.connect();
}, 120_000);
afterAll(async () => {
  await admin.end();
  await gateway.stop();
  await database.drop();
});

/** The parser's timer ticks every four seconds. */
const LONG_MS = 12_000;

test("an audit that takes longer than headers may is answered, at the command line, too", async () => {
  await gateway.customer();
  await admin.query("BEGIN; LOCK TABLE topup IN ACCESS EXCLUSIVE MODE");
  const audits = [
    gateway.admin("GET", "/ledger/audit").then(
      ({ ok }) => ok,
      (error: unknown) => String(error),
    ),
    gateway
      .cli({ DATABASE_URL: database.url }, "ledger", "audit")
      .then(({ code, stderr }) => code === 0 || stderr),
  ];
  await Bun.sleep(LONG_MS);
  await admin.query("COMMIT");
  expect(await Promise.all(audits)).toEqual([true, true]);
}, 120_000);
