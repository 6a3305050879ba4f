// What a restore must not bring back: a session that ended after the backup, and a link that was used after it.
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PEOPLE_FILE, STORE_FILE } from "../../src/domain/data-files.ts";
import { restoreBackup } from "../../src/main/restore.ts";
import { type Browser, firstOperator, newMember } from "../support/browser.ts";
import { startGateway, type TestGateway } from "../support/gateway.ts";

let folder: string;
let gateway: TestGateway;
let root: Browser;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "tollgate-restored-"));
  gateway = await startGateway({ store: "sqlite" });
  root = await firstOperator(gateway);
});
afterAll(async () => {
  await gateway.stop();
  rmSync(folder, { recursive: true, force: true });
});

function backUp(file: string): void {
  for (const [name, to] of [
    [STORE_FILE, file],
    [PEOPLE_FILE, `${file}.people`],
  ] as const) {
    const store = new Database(join(gateway.dataDir, name));
    store.run(`VACUUM INTO '${to}'`);
    store.close();
  }
}

test("accounts and members are restored, sessions and links are not: all people sign in again", async () => {
  const { id: org } = await root.app("POST /operator/organizations", {}, { name: "Acme" });
  const ada = await newMember(root, gateway, { org, role: "owner", email: "ada@example.com" });
  const { person } = await ada.app("GET /session");
  await root.app("POST /operator/people/{person}/reset", { person: person?.id ?? "" });
  const [backup, dataDir] = [join(folder, "backup"), join(folder, "data")];
  backUp(backup);
  mkdirSync(dataDir, { mode: 0o700 });
  copyFileSync(join(gateway.dataDir, "data.key"), join(dataDir, "data.key"));
  restoreBackup(dataDir, backup);
  const people = new Database(join(dataDir, PEOPLE_FILE));
  const count = (table: string): unknown => people.query(`SELECT count(*) FROM "${table}"`).values()[0]?.[0];
  const found = ["user", "membership", "session", "verification"].map(count);
  people.close();
  expect(found).toEqual([2, 1, 0, 0]);
});
