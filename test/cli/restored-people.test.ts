// What a restore must not bring back: a session that ended after the backup, and a link that was used or withdrawn after
// it; and what it says of people who stand as in the backup again.
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PEOPLE_FILE, STORE_FILE } from "../../src/domain/data-files.ts";
import { restoreBackup } from "../../src/main/restore.ts";
import { Browser, firstOperator, newMember, newOperator, PASSWORD, tokenOf } from "../support/browser.ts";
import { loadConfig } from "../../src/config/config.ts";
import { createLog } from "../../src/lib/log.ts";
import { start } from "../../src/main/gateway.ts";
import { PROGRAM, runToEnd } from "../support/program.ts";
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

describe("what has happened to people since the backup", () => {
  let org: string;
  let backup: string;
  let links: Record<"withdrawn" | "resent" | "open", string | null>;
  let resentOpen: string | null;
  beforeAll(async () => {
    ({ id: org } = await root.app("POST /operator/organizations", {}, { name: "Basalt" }));
    const owner = await newMember(root, gateway, { org, role: "owner", email: "olga@example.com" });
    const member = await newMember(root, gateway, { org, role: "developer", email: "felix@example.com" });
    const other = await newOperator(root, gateway, "tomas@example.com");
    const invite = async (email: string): Promise<{ id: string; link: string | null }> => {
      const { link, ...invited } = await owner.app(
        "POST /orgs/{org}/invitations",
        { org },
        { email, role: "viewer" },
      );
      return { ...invited, link };
    };
    const [withdrawn, resent, open] = [
      await invite("w@example.com"),
      await invite("r@example.com"),
      await invite("o@example.com"),
    ];
    links = { withdrawn: withdrawn.link, resent: resent.link, open: open.link };
    backup = join(folder, "of-people");
    backUp(backup);
    await owner.app("DELETE /orgs/{org}/invitations/{invitation}", { org, invitation: withdrawn.id });
    ({ link: resentOpen } = await invite("r@example.com"));
    const idOf = async (browser: Browser): Promise<string> =>
      (await browser.app("GET /session")).person?.id ?? "";
    await owner.app("DELETE /orgs/{org}/team/{member}", { org, member: await idOf(member) });
    await root.app("DELETE /operator/people/{person}", { person: await idOf(other) });
  });

  test.each([
    { where: "in the place of the store", replaced: true },
    { where: "where no store was", replaced: false },
  ])("$where: a link that was withdrawn or replaced since opens nothing", async ({ replaced }) => {
    const dataDir = join(folder, `place-${replaced}`);
    if (replaced)
      cpSync(gateway.dataDir, dataDir, { recursive: true, filter: (path) => !/\.(lock|pid)$/.test(path) });
    else {
      mkdirSync(dataDir, { mode: 0o700 });
      copyFileSync(join(gateway.dataDir, "data.key"), join(dataDir, "data.key"));
    }
    const { standsAgain } = restoreBackup(dataDir, backup);
    const config = loadConfig({ env: {}, cwd: dataDir, flags: { port: "0", dataDir } });
    const restored = await start(config, { log: createLog("silent") });
    try {
      const statusOf = async (link: string | null): Promise<number> => {
        const account = { name: "New", password: PASSWORD };
        const { status } = await new Browser(restored.url).send("POST", "/app/v1/invitations/accept", {
          token: tokenOf(link),
          account,
        });
        return status;
      };
      expect(await statusOf(links.withdrawn)).toBe(404);
      expect(await statusOf(links.resent)).toBe(404);
      expect(await statusOf(resentOpen)).toBe(404);
      expect(await statusOf(links.open)).toBe(replaced ? 200 : 404);
    } finally {
      await restored.stop();
    }
    expect(standsAgain).toEqual(
      replaced
        ? {
            members: [`felix@example.com, developer of ${org}`],
            operators: ["tomas@example.com"],
            signIns: [],
            invitationsEnded: 2,
          }
        : { members: null, operators: null, signIns: null, invitationsEnded: 3 },
    );
  });
});

test("the command names them, also if it finishes a restore that was interrupted", async () => {
  const { id: org } = await root.app("POST /operator/organizations", {}, { name: "Cobalt" });
  const member = await newMember(root, gateway, { org, role: "viewer", email: "vera@example.com" });
  const ida = await newMember(root, gateway, { org, role: "viewer", email: "ida@example.com" });
  const owner = await newMember(root, gateway, { org, role: "owner", email: "olga2@example.com" });
  const backup = join(folder, "of-command");
  backUp(backup);
  const { person } = await member.app("GET /session");
  await owner.app("DELETE /orgs/{org}/team/{member}", { org, member: person?.id ?? "" });
  await ida.app("POST /profile/password", {}, { current: PASSWORD, next: `${PASSWORD} anew` });
  const dataDir = join(folder, "interrupted");
  cpSync(gateway.dataDir, dataDir, { recursive: true, filter: (path) => !/\.(lock|pid)$/.test(path) });
  const args = ["--data-dir", dataDir, "db", "restore", backup];
  const { DATABASE_URL: _, ...env } = process.env;
  await runToEnd(PROGRAM, args, { env: { ...env, TOLLGATE_CRASH_AT: "restore_set_aside" } });
  const { code, out } = await runToEnd(PROGRAM, args, { env });
  expect([code, out]).toEqual([
    0,
    expect.stringContaining(`(./tollgate members remove):\n  vera@example.com, viewer of ${org}\n`),
  ]);
  expect(out).toContain("(./tollgate people reset EMAIL):\n  ida@example.com\n");
});
