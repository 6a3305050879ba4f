// Moving people to PostgreSQL: nobody has to sign in again, and the move can be repeated.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../src/config/config.ts";
import { createLog } from "../../src/lib/log.ts";
import { moveToPostgres } from "../../src/main/move.ts";
import { type Running, start } from "../../src/main/gateway.ts";
import { Browser, PASSWORD, tokenOf } from "../support/browser.ts";
import { type TestDatabase, testPostgres } from "../support/postgres.ts";

const dataDir = mkdtempSync(join(tmpdir(), "tollgate-people-move-"));
let database: TestDatabase;
beforeAll(async () => {
  database = await (await testPostgres()).database();
});
afterAll(async () => {
  await database.drop();
  rmSync(dataDir, { recursive: true, force: true });
});

function run(databaseUrl: string | null, port: string): Promise<Running> {
  const config = loadConfig({ env: {}, cwd: dataDir, flags: { port, dataDir } });
  config.databaseUrl = databaseUrl;
  return start(config, { log: createLog("silent") });
}

test("accounts, sessions and memberships are the same in PostgreSQL", async () => {
  const before = await run(null, "0");
  const browser = new Browser(before.url);
  const account = { name: "Ada", email: "ada@example.com", password: PASSWORD };
  await browser.app("POST /welcome", {}, { token: tokenOf(before.signInLink), ...account });
  const { person } = await browser.app("GET /session");
  await browser.app(
    "POST /orgs/{org}/invitations",
    { org: person?.memberships[0]?.org ?? "" },
    { email: "ben@example.com", role: "viewer" },
  );
  await before.stop();

  const moved = await moveToPostgres(dataDir, database.url);
  expect(moved.people).toBe(6);
  // Nothing of the old files stays except the renamed copies: no log, no index of one.
  const kept = readdirSync(dataDir).filter((name) => name.includes(".sqlite"));
  expect(kept.toSorted()).toEqual(["people.sqlite.moved", "tollgate.sqlite.moved"]);

  const after = await run(database.url, new URL(before.url).port);
  try {
    expect(after.signInLink).toBeNull();
    expect((await browser.app("GET /session")).person).toEqual(person);
    const again = new Browser(after.url);
    const { email, password } = account;
    expect((await again.send("POST", "/auth/sign-in/email", { email, password })).status).toBe(200);
    const org = person?.memberships[0]?.org ?? "";
    expect((await again.app("GET /orgs/{org}/invitations", { org })).data).toHaveLength(1);
  } finally {
    await after.stop();
  }
});
