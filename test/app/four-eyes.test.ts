// Four eyes are two persons: nobody approves their own request, with whichever of their credentials, at whichever
// gateway; the installation's own keys count as one more person (hardening.md S10).
import { byItself } from "../../src/domain/actor.ts";
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../src/config/config.ts";
import { createLog } from "../../src/lib/log.ts";
import { type Running, start } from "../../src/main/gateway.ts";
import { Browser, PASSWORD, tokenOf } from "../support/browser.ts";
import { STORES, type Store } from "../support/gateway.ts";
import { callAdmin, type Called, loginOf, managementKeyOf } from "../support/hats.ts";
import { type TestDatabase, testPostgres } from "../support/postgres.ts";
import { revokeEntitlement } from "../../src/registry/entitlements.ts";
import { entitlementsOf } from "../support/registry-reads.ts";

setDefaultTimeout(60_000);

const PUBLIC = "http://gate.example.com";
const MODEL = "base-research-1";
const EXPIRES = new Date(Date.now() + 86_400_000).toISOString();

/** One credential: requests an entitlement at one gateway, decides about one at another. */
interface Hat {
  name: string;
  person: string;
  ask(url: string): Promise<Called>;
  approve(url: string, id: string): Promise<Called>;
}

describe.each([...STORES])("%s", (store: Store) => {
  const folders = [1, 2].map(() => mkdtempSync(join(tmpdir(), "tollgate-eyes-")));
  const gateways: Running[] = [];
  let database: TestDatabase | null = null;
  let org: string;
  let hats: Hat[];

  /** Where it is requested, and where it is decided: the same gateway with the embedded store. */
  const here = (): string => gateways[0]?.url ?? "";
  const there = (): string => gateways.at(-1)?.url ?? "";

  async function run(dataDir: string): Promise<Running> {
    const config = loadConfig({ env: {}, cwd: dataDir, flags: { port: "0", dataDir } });
    config.databaseUrl = database?.url ?? null;
    config.publicUrl = PUBLIC;
    config.signIn.perMinute = 1000;
    return await start(config, { log: createLog("silent") });
  }

  beforeAll(async () => {
    const [one = "", two = ""] = folders;
    if (store === "postgres") database = await (await testPostgres()).migrated();
    gateways.push(await run(one));
    if (store === "postgres") {
      copyFileSync(join(one, "data.key"), join(two, "data.key"));
      gateways.push(await run(two));
    }
    const ada = new Browser(here(), PUBLIC);
    const account = { name: "Ada", email: "ada@example.com", password: PASSWORD };
    await ada.app("POST /welcome", {}, { ...account, token: tokenOf(gateways[0]?.signInLink ?? null) });
    const { link } = await ada.app("POST /operator/people", {}, { email: "ben@example.com" });
    const ben = new Browser(here(), PUBLIC);
    const invited = { token: tokenOf(link), account: { name: "Ben", password: PASSWORD } };
    await ben.app("POST /invitations/accept", {}, invited);
    org = (await ada.app("POST /operator/organizations", {}, { name: "Lab" })).id;
    for (const [email, browser] of [
      ["ada@example.com", ada],
      ["ben@example.com", ben],
    ] as const) {
      const to = { email, role: "owner" };
      const made = await ada.app("POST /operator/organizations/{org}/invitations", { org }, to);
      await browser.app("POST /invitations/accept", {}, { token: tokenOf(made.link) });
    }
    const machines = (store === "postgres" ? folders : [one]).map((folder, index) =>
      keyHat("installation", `operator.json ${index + 1}`, operatorFile(folder)),
    );
    hats = [...(await hatsOf("Ada", ada)), ...(await hatsOf("Ben", ben)), ...machines];
  });
  afterAll(async () => {
    for (const gateway of gateways) await gateway.stop();
    await database?.drop();
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });

  const operatorFile = (folder: string): string =>
    (JSON.parse(readFileSync(join(folder, "operator.json"), "utf8")) as { token: string }).token;
  const keyHat = (person: string, name: string, key: string): Hat => ({
    person,
    name: `${person}'s ${name}`,
    ask: (url) => callAdmin(url, key, ["POST", "/entitlements"], { org, model: MODEL, project: "p" }),
    approve: (url, id) => callAdmin(url, key, ["POST", `/entitlements/${id}/approve`], { expires: EXPIRES }),
  });
  const hatsOf = async (person: string, browser: Browser): Promise<Hat[]> => [
    {
      person,
      name: `${person}'s session`,
      ask: async (url) =>
        await browser
          .at(url)
          .try("POST /orgs/{org}/research", { org }, { model: MODEL, project: "p", purpose: "q" }),
      approve: async (url, entitlement) =>
        await browser
          .at(url)
          .try("POST /operator/entitlements/{entitlement}/approve", { entitlement }, { expires: EXPIRES }),
    },
    keyHat(person, "login", await loginOf(here(), browser)),
    keyHat(person, "management key", await managementKeyOf(browser)),
  ];
  const asked = async (hat: Hat, url = here()): Promise<string> => {
    const { status, json } = await hat.ask(url);
    if (json.id === undefined)
      throw new Error(`${hat.name} could not ask: ${status} ${JSON.stringify(json)}`);
    return json.id;
  };
  const stateOf = async (id: string) =>
    (await entitlementsOf((gateways[0] as Running).ledger, org)).find((record) => record.id === id);

  test("every hat that asks, with every hat that approves: two persons may, one may not", async () => {
    let refused = 0;
    for (const asking of hats)
      for (const approving of hats) {
        const id = await asked(asking);
        const { status, json } = await approving.approve(there(), id);
        const pair = `${asking.name} asks, ${approving.name} approves`;
        const same = asking.person === approving.person;
        expect([pair, status < 400 ? "allowed" : json.error?.code]).toEqual([
          pair,
          same ? "second_person_required" : "allowed",
        ]);
        expect((await stateOf(id))?.status).toBe(same ? "requested" : "active");
        if (!same) continue;
        refused++;
        await revokeEntitlement((gateways[0] as Running).ledger, id, byItself("test")); // otherwise nobody could request more
      }
    expect(refused).toBe(store === "postgres" ? 9 + 9 + 4 : 9 + 9 + 1);
  });

  test("of all credentials concurrently, at all gateways, only the other person's approval counts", async () => {
    const [ada, ben] = ["Ada", "Ben"].map((name) => hats.filter(({ person }) => person === name));
    for (const asking of ada ?? []) {
      const id = await asked(asking, there());
      const answers = await Promise.all(
        [...(ada ?? []), ...(ben ?? [])].flatMap((hat) =>
          [here(), there()].map(async (url) => ({ hat, answer: await hat.approve(url, id) })),
        ),
      );
      for (const { hat, answer } of answers)
        if (hat.person === "Ada") expect([hat.name, answer.status >= 400]).toEqual([hat.name, true]);
      expect(answers.some(({ hat, answer }) => hat.person === "Ben" && answer.status === 200)).toBe(true);
      expect((await stateOf(id))?.status).toBe("active");
    }
  });

  test("a person who requested with a key is told so, sees it as theirs, and cannot decline it either", async () => {
    const [session, login] = hats.filter(({ person }) => person === "Ada");
    if (session === undefined || login === undefined) throw new Error("no hats");
    const id = await asked(login);
    const { json } = await session.approve(there(), id);
    expect(json.error?.message).toContain("Another operator has to decide it");
    const record = await stateOf(id);
    expect(record?.requestedBy).toStartWith("mk_");
    expect(record?.requester).toStartWith("usr_");
  });
});
