// A database that has no connection left for a gateway: the gateway reports that it is not ready, and recovers by
// itself.
import { afterAll, beforeAll, expect, test } from "bun:test";
import pg from "pg";
import { type TestDatabase, testPostgres } from "../support/postgres.ts";
import { ProcessGateway } from "../support/process-gateway.ts";
import { reads } from "../support/wait.ts";

/** A server does not count its superuser's connections. */
const ROLE = `few_${crypto.randomUUID().slice(0, 8)}`;
let database: TestDatabase;
let admin: pg.Client;
let gateway: ProcessGateway;
beforeAll(async () => {
  database = await (await testPostgres()).database();
  const url = new URL(database.url);
  admin = new pg.Client({ connectionString: database.url });
  await admin.connect();
  await admin.query(`CREATE ROLE ${ROLE} LOGIN PASSWORD 'few'`);
  await admin.query(`ALTER DATABASE ${url.pathname.slice(1)} OWNER TO ${ROLE}`);
  await admin.query(`ALTER SCHEMA public OWNER TO ${ROLE}`);
  url.username = ROLE;
  url.password = "few";
  gateway = await ProcessGateway.start({ DATABASE_URL: url.href, TOLLGATE_LOG_LEVEL: "info" });
}, 120_000);
afterAll(async () => {
  await gateway.stop();
  await admin.end();
  await database.drop();
  // Its owner is gone with the database; on a server that is kept, so is the role.
  const server = new pg.Client({ connectionString: new URL("/postgres", database.url).href });
  await server.connect();
  await server.query(`DROP ROLE ${ROLE}`);
  await server.end();
});

const ask = { model: "plain-1", messages: [{ role: "user", content: "Hello" }], max_tokens: 20 };
const ready = async (): Promise<number | null> => (await gateway.get("/readyz")).status;

test("no connection for the keys: /readyz is off, requests get 503, and both end with the want of it", async () => {
  const { secret } = await gateway.customer();
  expect((await gateway.chat(secret, ask)).status).toBe(200);
  expect(await ready()).toBe(200);
  await admin.query(`ALTER ROLE ${ROLE} CONNECTION LIMIT 1`);
  await admin.query(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'tollgate keys' AND usename = $1",
    [ROLE],
  );
  await reads(ready, 503);
  expect((await gateway.chat(secret, ask)).status).toBe(503);
  expect(await ready()).toBe(503);
  await admin.query(`ALTER ROLE ${ROLE} CONNECTION LIMIT -1`);
  await reads(ready, 200); // nobody has sent a request meanwhile
  expect((await gateway.chat(secret, ask)).status).toBe(200);
  await reads(
    async () =>
      [/too many connections for role/, /the store is available again/].map((line) => line.test(gateway.log)),
    [true, true],
  );
}, 120_000);
