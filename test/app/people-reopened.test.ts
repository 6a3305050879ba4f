// People whose tables cannot be created: each call of the dashboard tries again, and a failed attempt leaves no
// connection behind.
import { afterAll, expect, test } from "bun:test";
import { startGateway } from "../support/gateway.ts";
import { reads } from "../support/wait.ts";

const gateway = await startGateway({ store: "postgres" });
afterAll(() => gateway.stop());

const session = async (): Promise<number> => (await fetch(`${gateway.url}/app/v1/session`)).status;

const connections = async (): Promise<number> =>
  (
    await gateway.rowsOf(
      "pg_stat_activity WHERE datname = current_database() AND application_name = 'tollgate people'",
    )
  ).length;

test("a dashboard that cannot open its people closes what it opened of them, and opens once it can", async () => {
  await gateway.tamper("CREATE SCHEMA IF NOT EXISTS people");
  await gateway.tamper('CREATE VIEW people."user" AS SELECT 1 AS id'); // in place of the library's table
  for (let tries = 0; tries < 5; tries++) expect(await session()).toBe(500);
  await reads(connections, 0);
  await gateway.tamper('DROP VIEW people."user"');
  expect(await session()).toBe(200);
});
