// Two gateways on one PostgreSQL: a person is signed in at both or at neither, and a form acts once wherever it is
// sent.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../src/config/config.ts";
import { createLog } from "../../src/lib/log.ts";
import { type Running, start } from "../../src/main/gateway.ts";
import { allOrganizations } from "../../src/registry/organizations.ts";
import { Browser, PASSWORD, tokenOf } from "../support/browser.ts";
import { askForCodes, poll } from "../support/device.ts";
import { type TestDatabase, testPostgres } from "../support/postgres.ts";
import { READ } from "../support/versions.ts";
import { reads, waitFor } from "../support/wait.ts";

const PUBLIC = "http://gate.example.com";
const folders = [1, 2].map(() => mkdtempSync(join(tmpdir(), "tollgate-replica-")));
let database: TestDatabase;
let gateways: [Running, Running];
let here: Browser;
let there: Browser;
let email: string;

async function run(dataDir: string, on = database): Promise<Running> {
  const config = loadConfig({ env: {}, cwd: dataDir, flags: { port: "0", dataDir } });
  config.databaseUrl = on.url;
  config.publicUrl = PUBLIC;
  config.signIn.perMinute = 1000;
  return await start(config, { log: createLog("silent") });
}

beforeAll(async () => {
  database = await (await testPostgres()).migrated();
  const [one = "", two = ""] = folders;
  const first = await run(one);
  copyFileSync(join(one, "data.key"), join(two, "data.key"));
  gateways = [first, await run(two)];
});
afterAll(async () => {
  for (const gateway of gateways) await gateway.stop();
  await database.drop();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

const browsers = (): [Browser, Browser] => [
  new Browser(gateways[0].url, PUBLIC),
  new Browser(gateways[1].url, PUBLIC),
];

test("both serve the demo's models, whichever started last: they share the data key and nothing else", async () => {
  const chat = async ({ url }: Running): Promise<number> => {
    const body = { model: "plain-1", messages: [{ role: "user", content: "Hello" }], max_tokens: 5 };
    const { status } = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateways[0].demoKey}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return status;
  };
  // Each sees what the other one published a moment later.
  await reads(() => Promise.all(gateways.map(chat)), [200, 200]);
});

test("of two links one makes the first account, at whichever gateway it is used", async () => {
  const links = gateways.map(({ signInLink }) => tokenOf(signInLink));
  const [a, b] = browsers();
  const account = { name: "Ada", password: PASSWORD };
  const answers = await Promise.all([
    a.try("POST /welcome", {}, { ...account, email: "a@example.com", token: links[1] }),
    b.try("POST /welcome", {}, { ...account, email: "b@example.com", token: links[0] }),
  ]);
  expect(answers.map(({ status }) => status).toSorted((x, y) => x - y)).toEqual([200, 410]);
  here = answers[0]?.status === 200 ? a : b;
  email = here === a ? "a@example.com" : "b@example.com";
  there = here.at(here === a ? gateways[1].url : gateways[0].url);
});

test("the session works at the other gateway", async () => {
  expect((await there.app("GET /session")).person?.operator).toBe(true);
});

test("a form sent to both acts once", async () => {
  const org = (await here.app("GET /session")).person?.memberships[0]?.org ?? "";
  const once = { headers: { "idempotency-key": "one-form-two-clicks" } };
  const clicks = await Promise.all(
    [here, there].map((browser) => browser.try("POST /orgs/{org}/keys", { org }, { name: "K" }, once)),
  );
  expect(clicks.map(({ status }) => status)).toEqual([201, 201]);
  const keys = clicks.map(({ json }) => json as unknown as { id: string; secret: string | null });
  expect(keys[0]?.id).toBe(keys[1]?.id ?? "");
  expect(keys.filter(({ secret }) => secret !== null)).toHaveLength(1);
});

test("signing out here ends it there", async () => {
  expect((await here.send("POST", "/auth/sign-out")).status).toBe(200);
  expect((await there.try("GET /profile")).status).toBe(401);
});

const signIn = (browser: Browser, as: string) =>
  browser.send("POST", "/auth/sign-in/email", { email: as, password: PASSWORD });

/** A new organization with two owners: the person signed in at the first gateway, and Eve at the second one. */
async function twoOwners(ada: Browser, eve: Browser): Promise<string> {
  const { id: org } = await ada.app("POST /operator/organizations", {}, { name: "Two owners" });
  for (const browser of [ada, eve]) {
    const { person } = await browser.app("GET /session");
    const to = { email: person?.email ?? "eve@example.com", role: "owner" };
    const { link } = await ada.app("POST /operator/organizations/{org}/invitations", { org }, to);
    const account = { name: "Eve", password: PASSWORD };
    await browser.app(
      "POST /invitations/accept",
      {},
      { token: tokenOf(link), ...(person === null && { account }) },
    );
  }
  return org;
}

const ownersOf = async (browser: Browser, org: string): Promise<number> =>
  (await browser.app("GET /orgs/{org}/team", { org })).data.filter(({ role }) => role === "owner").length;

test("of two owners who leave concurrently, at two gateways, one stays", async () => {
  const eve = browsers()[1];
  await signIn(here, email);
  for (let round = 0; round < 8; round++) {
    const org = await twoOwners(here, eve);
    const answers = await Promise.all(
      [here, eve].map((browser) => browser.try("POST /orgs/{org}/leave", { org })),
    );
    expect(answers.map(({ status }) => status).toSorted((x, y) => x - y)).toEqual([200, 409]);
    expect(await ownersOf(here, org)).toBe(1);
  }
});

test("of two owners who step down concurrently, at two gateways, one stays", async () => {
  const eve = browsers()[1];
  await signIn(eve, "eve@example.com");
  const org = await twoOwners(here, eve);
  const answers = await Promise.all(
    [here, eve].map(async (browser) => {
      const member = (await browser.app("GET /session")).person?.id ?? "";
      const { version } = await READ["PATCH /orgs/{org}/team/{member}"](browser, { org, member });
      const body = { role: "viewer", version };
      return await browser.try("PATCH /orgs/{org}/team/{member}", { org, member }, body);
    }),
  );
  expect(answers.map(({ status }) => status).filter((status) => status === 409)).toHaveLength(1);
  // A changed role ends sessions.
  await signIn(here, email);
  expect(await ownersOf(here, org)).toBe(1);
});

test("a terminal asks at one gateway, is approved at the other one, and one of both gives it the key, once", async () => {
  await signIn(here, email);
  there = here.at(email === "a@example.com" ? gateways[1].url : gateways[0].url);
  const { device_code, user_code, verification_uri } = await askForCodes(gateways[0].url);
  expect(verification_uri).toBe(`${PUBLIC}/device`);
  const found = await there.app("POST /operator/devices/find", {}, { user_code });
  const decided = await Promise.all(
    [here, there].map((browser) =>
      browser.try("POST /operator/devices/{device}/approve", { device: found.id }),
    ),
  );
  expect(decided.map(({ status }) => status).toSorted((x, y) => x - y)).toEqual([200, 409]);
  const fetched = await Promise.all(gateways.map(({ url }) => poll(url, device_code)));
  const tokens = fetched.flatMap(({ json }) => json.access_token ?? []);
  expect(tokens).toHaveLength(1);
  for (const { url } of gateways) {
    const headers = { authorization: `Bearer ${tokens[0]}` };
    expect((await fetch(`${url}/admin/v1/organizations`, { headers })).status).toBe(200);
  }
});

test("a breaker opened at one gateway applies at the other one", async () => {
  await signIn(here, email);
  const models = async (): Promise<Set<string>> => {
    const org = (await there.app("GET /session")).person?.memberships[0]?.org ?? "";
    return new Set((await there.app("GET /orgs/{org}/models", { org })).data.map(({ state }) => state));
  };
  // The same cookies at the other gateway.
  there = here.at(email === "a@example.com" ? gateways[1].url : gateways[0].url);
  const [provider] = (await here.app("GET /operator/providers")).data;
  const at = { provider: provider?.name ?? "" };
  await here.app("POST /operator/providers/{provider}/open", at, { reason: "test" });
  await reads(models, new Set(["unhealthy"]));
  await here.app("POST /operator/providers/{provider}/close", at);
  await waitFor(async () => !(await models()).has("unhealthy"), "the closed breaker");
});

test("of gateways that start together on an empty database one makes the demo organization, its credits and its key", async () => {
  const empty = await (await testPostgres()).database();
  const places = [1, 2, 3].map(() => mkdtempSync(join(tmpdir(), "tollgate-together-")));
  const started = await Promise.all(
    places.map((dataDir) => {
      writeFileSync(join(dataDir, "data.key"), new Uint8Array(32).fill(7), { mode: 0o600 });
      return run(dataDir, empty);
    }),
  );
  try {
    expect(started.filter(({ demoKey }) => demoKey !== null)).toHaveLength(1);
    for (const { ledger } of started) expect(await allOrganizations(ledger)).toHaveLength(1);
  } finally {
    for (const gateway of started) await gateway.stop();
    await empty.drop();
    for (const folder of places) rmSync(folder, { recursive: true, force: true });
  }
});
