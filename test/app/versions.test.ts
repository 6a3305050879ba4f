// Nobody overwrites another person's change unseen: every change of a row names the version that it is based on, and
// of two changes to one version only one is made. On PostgreSQL the two people are at two gateways.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { loadConfig } from "../../src/config/config.ts";
import type { AppRoute } from "../../src/api/client.ts";
import { appRoutes } from "../support/endpoints.ts";
import { createLog } from "../../src/lib/log.ts";
import { start } from "../../src/main/gateway.ts";
import { Browser, PASSWORD, tokenOf } from "../support/browser.ts";
import { STORES, startGateway, type Store, type TestGateway } from "../support/gateway.ts";
import { PLAIN } from "../support/models.ts";
import { codeOf, nextCodeOf } from "../support/totp.ts";
import { edit, type EditRoute, READ } from "../support/versions.ts";

const PUBLIC = "http://gate.example.com";
const ROUNDS = 12;

/** The tables that the changes write to, as PostgreSQL names them. */
const TABLES = `organization, api_key, alert_rule, auto_top_up, rate_limit, people.membership, people."organizationRule"`;
const READ_BY_BOTH_MS = 200;

interface Opened {
  gateway: TestGateway;
  /** Null on SQLite. */
  databaseUrl: string | null;
  /** The second person's gateway. */
  otherUrl: string;
  stop(): Promise<void>;
}

async function open(store: Store): Promise<Opened> {
  let databaseUrl: string | null = null;
  const configure: NonNullable<Parameters<typeof startGateway>[0]>["configure"] = (config) => {
    ({ databaseUrl } = config);
    config.publicUrl = PUBLIC;
    config.signIn.perMinute = 1000;
  };
  const gateway = await startGateway({ store, configure });
  if (store === "sqlite") return { gateway, databaseUrl, otherUrl: gateway.url, stop: () => gateway.stop() };
  const dataDir = mkdtempSync(join(tmpdir(), "tollgate-second-"));
  copyFileSync(join(gateway.dataDir, "data.key"), join(dataDir, "data.key"));
  const config = loadConfig({ env: {}, cwd: dataDir, flags: { port: "0", dataDir } });
  config.databaseUrl = databaseUrl;
  configure?.(config);
  const second = await start(config, { log: createLog("silent") });
  const stop = async (): Promise<void> => {
    await second.stop();
    await gateway.stop();
    rmSync(dataDir, { recursive: true, force: true });
  };
  return { gateway, databaseUrl, otherUrl: second.url, stop };
}

/** Sends both; on PostgreSQL neither writes before both have read. */
async function atOnce<T>({ databaseUrl }: Opened, sends: (() => Promise<T>)[]): Promise<T[]> {
  if (databaseUrl === null) return await Promise.all(sends.map((send) => send()));
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(`BEGIN; LOCK TABLE ${TABLES} IN SHARE MODE`);
    const answers = Promise.all(sends.map((send) => send()));
    await Bun.sleep(READ_BY_BOTH_MS);
    await client.query("COMMIT");
    return await answers;
  } finally {
    await client.end();
  }
}

interface Case {
  route: EditRoute;
  /** Bodies that leave three different rows; `other` may equal `one`. */
  from: object;
  one: object;
  other: object;
}

const condition = { kind: "balance_below", channels: [], on: true };
const topUp = { on: true, threshold_usd: "5", monthly_cap_usd: null };
const CASES: Record<EditRoute, Omit<Case, "route">> = {
  "PATCH /orgs/{org}/keys/{key}": {
    from: { limit_usd: "1" },
    one: { limit_usd: "2" },
    other: { limit_usd: null, name: "Night" },
  },
  "PATCH /orgs/{org}/limits": {
    from: { requests_per_minute: 60, concurrent: null },
    one: { requests_per_minute: 50 },
    other: { concurrent: 5 },
  },
  "PATCH /operator/limits": {
    from: { model: PLAIN.model, requests_per_minute: 60, concurrent: null },
    one: { model: PLAIN.model, requests_per_minute: 50 },
    other: { model: PLAIN.model, concurrent: 5 },
  },
  "PATCH /orgs/{org}/settings": { from: { name: "A" }, one: { name: "B" }, other: { name: "C" } },
  "PATCH /orgs/{org}/team/{member}": {
    from: { role: "viewer" },
    one: { role: "developer" },
    other: { role: "owner" },
  },
  "PUT /orgs/{org}/billing/auto-top-up": {
    from: { ...topUp, amount_usd: "10" },
    one: { ...topUp, amount_usd: "20" },
    other: { ...topUp, amount_usd: "10", on: false },
  },
  "PUT /orgs/{org}/alerts/rules/{rule}": {
    from: { ...condition, amount_usd: "1" },
    one: { ...condition, amount_usd: "2" },
    other: { kind: "key_limit", percent: 90, channels: [], on: true },
  },
  "PATCH /operator/organizations/{org}": { from: { name: "D" }, one: { name: "E" }, other: { name: "F" } },
};
const rule: [string, Case] = [
  "PATCH /orgs/{org}/settings (two-factor rule)",
  {
    route: "PATCH /orgs/{org}/settings",
    from: { require_two_factor: false },
    one: { require_two_factor: true },
    other: { require_two_factor: true },
  },
];
const cases: [string, Case][] = [
  ...(Object.keys(CASES) as EditRoute[]).map((route): [string, Case] => [route, { route, ...CASES[route] }]),
  rule,
];

describe.each(STORES)("on %s", (store) => {
  let opened: Opened;
  let ada: Browser;
  let eve: Browser;
  let params: Record<string, string>;

  beforeAll(async () => {
    opened = await open(store);
    ada = new Browser(opened.gateway.url, PUBLIC);
    const root = { name: "Ada", email: "ada@example.com", password: PASSWORD };
    await ada.app("POST /welcome", {}, { ...root, token: tokenOf(opened.gateway.signInLink) });
    eve = new Browser(opened.otherUrl, PUBLIC);
    const account = { name: "Eve", password: PASSWORD };
    const operator = await ada.app("POST /operator/people", {}, { email: "eve@example.com" });
    await eve.app("POST /invitations/accept", {}, { token: tokenOf(operator.link), account });
    const { id: org } = await ada.app("POST /operator/organizations", {}, { name: "Acme" });
    for (const [email, browser] of [
      ["ada@example.com", ada],
      ["eve@example.com", eve],
    ] as const)
      await joins(browser, { org, email, role: "owner" });
    for (const browser of [ada, eve]) await secondFactor(browser);
    const mia = new Browser(opened.gateway.url, PUBLIC);
    await joins(mia, { org, email: "mia@example.com", role: "viewer", name: "Mia" });
    const { data } = await ada.app("GET /orgs/{org}/team", { org });
    const made = { ...condition, amount_usd: "1" };
    params = {
      org,
      key: (await ada.app("POST /orgs/{org}/keys", { org }, { name: "Day" })).id,
      member: data.find(({ email }) => email === "mia@example.com")?.person.id ?? "",
      rule: (await ada.app("POST /orgs/{org}/alerts/rules", { org }, made)).id,
    };
  }, 120_000);
  afterAll(() => opened.stop());

  async function joins(
    browser: Browser,
    { org, email, role, name }: { org: string; email: string; role: string; name?: string },
  ): Promise<void> {
    const at = "POST /operator/organizations/{org}/invitations";
    const { link } = await ada.app(at, { org }, { email, role });
    const account = name === undefined ? {} : { account: { name, password: PASSWORD } };
    await browser.app("POST /invitations/accept", {}, { token: tokenOf(link), ...account });
  }

  async function secondFactor(browser: Browser): Promise<void> {
    const enabled = await browser.send<{ totpURI: string }>("POST", "/auth/two-factor/enable", {
      password: PASSWORD,
    });
    const uri = enabled.json.totpURI;
    await browser.send("POST", "/auth/two-factor/verify-totp", { code: codeOf(uri) });
    if ((await browser.app("GET /profile")).person.two_factor) return;
    await browser.send("POST", "/auth/two-factor/verify-totp", { code: nextCodeOf(uri) });
  }

  const newestLine = async (): Promise<string | undefined> =>
    (await ada.app("GET /operator/audit")).data[0]?.id;
  const refusal = ({ status, json }: Awaited<ReturnType<Browser["try"]>>) => [status, json?.error?.code];
  const SLOW = [409, "changed_meanwhile"];

  test.each(cases)(
    "%s is refused on an older version, and nothing is changed",
    async (_, { route, ...body }) => {
      await edit(ada, route, params, body.from);
      const seen = await READ[route](eve, params);
      const made = await ada.app(route, params, { ...body.one, version: seen.version });
      const present = await READ[route](eve, params);
      expect(present.version).toBe((made as { version: string }).version);
      expect(present.version).not.toBe(seen.version);
      const line = await newestLine();
      const late = await eve.try(route, params, { ...body.other, version: seen.version });
      expect(refusal(late)).toEqual(SLOW);
      expect(late.json.error.message).toContain("Read it again");
      expect(await READ[route](ada, params)).toEqual(present);
      expect(await newestLine()).toBe(line);
      await edit(eve, route, params, body.other);
      expect(await newestLine()).not.toBe(line);
    },
  );

  test.each(cases)("%s: of two concurrent changes one is made", async (_, { route, ...body }) => {
    for (let round = 0; round < (store === "sqlite" ? ROUNDS : 1); round++) {
      await edit(ada, route, params, body.from);
      const { version } = await READ[route](ada, params);
      const answers = await atOnce(opened, [
        () => ada.try(route, params, { ...body.one, version }),
        () => eve.try(route, params, { ...body.other, version }),
      ]);
      const won = answers.filter(({ status }) => status === 200);
      expect(won).toHaveLength(1);
      expect(answers.filter(({ status }) => status !== 200).map(refusal)).toEqual([SLOW]);
      const present = await READ[route](eve, params);
      expect(present.version).toBe((won[0]?.json as { version?: string } | undefined)?.version ?? "");
    }
  });

  test.each(cases)(
    "%s: sent again under its Idempotency-Key it gets the same answer",
    async (_, { route, ...body }) => {
      await edit(ada, route, params, body.from);
      const { version } = await READ[route](ada, params);
      const headers = { "idempotency-key": crypto.randomUUID() };
      const send = () => ada.try(route, params, { ...body.one, version }, { headers });
      const first = await send();
      const line = await newestLine();
      const again = await send();
      expect([again.status, again.headers.get("idempotent-replayed"), again.text]).toEqual([
        200,
        "true",
        first.text,
      ]);
      expect(await newestLine()).toBe(line);
      // The key belongs to the change that was made, not to the refused one.
      const late = { "idempotency-key": crypto.randomUUID() };
      const retry = (body: object) => ada.try(route, params, body, { headers: late });
      expect(refusal(await retry({ ...body.other, version }))).toEqual(SLOW);
      const present = await READ[route](ada, params);
      expect((await retry({ ...body.other, version: present.version })).status).toBe(200);
    },
  );

  test.each(cases)("%s is refused without a version", async (_, { route, ...body }) => {
    const { status, json } = await ada.try(route, params, body.one);
    expect([status, json.error.code]).toEqual([400, "invalid_request"]);
    expect(json.error.message).toContain("version");
  });

  test("of two people who set auto top-up for the first time one succeeds", async () => {
    const { id: org } = await ada.app("POST /operator/organizations", {}, { name: "New" });
    for (const [email, browser] of [
      ["ada@example.com", ada],
      ["eve@example.com", eve],
    ] as const)
      await joins(browser, { org, email, role: "owner" });
    const { route, one, other } = {
      route: "PUT /orgs/{org}/billing/auto-top-up",
      ...CASES["PUT /orgs/{org}/billing/auto-top-up"],
    } as const;
    const { version } = await READ[route](ada, { org });
    const answers = await atOnce(opened, [
      () => ada.try(route, { org }, { ...one, version }),
      () => eve.try(route, { org }, { ...other, version }),
    ]);
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);
  });

  test("the operator API changes any version, and refuses an older one if named", async () => {
    const { key = "" } = params;
    const { version } = await edit(ada, "PATCH /orgs/{org}/keys/{key}", params, { limit_usd: "7" });
    const limited = await opened.gateway.admin<{ version: string }>("POST", `/keys/${key}/limit`, {
      usd: "8",
    });
    expect(limited.status).toBe(200);
    for (const [change, body] of [
      ["limit", { usd: "9" }],
      ["rename", { name: "Script" }],
    ] as const) {
      const late = await opened.gateway.admin("POST", `/keys/${key}/${change}`, { ...body, version });
      expect([late.status, (late.json["error"] as { code: string }).code]).toEqual(SLOW);
    }
    const listed = await opened.gateway.admin<{ data: { id: string; version: string; limit_usd: string }[] }>(
      "GET",
      `/keys?org=${params["org"]}`,
    );
    const shown = listed.json.data.find(({ id }) => id === key);
    expect(shown).toMatchObject({ version: limited.json.version, limit_usd: "8.000000000" });
    const named = { usd: "9", version: limited.json.version };
    expect((await opened.gateway.admin("POST", `/keys/${key}/limit`, named)).status).toBe(200);
  });
});

/** Changes that name no version, each with its reason. */
const WITHOUT: Partial<Record<AppRoute, string>> = {
  "PATCH /profile": "one's own name is nobody else's to change",
  "PUT /orgs/{org}/usage/views": "one's own views are nobody else's to change",
};

test("every PATCH and PUT takes the version of the row that it returns, or has a reason not to", () => {
  const changing = appRoutes().filter(([route]) => /^(PATCH|PUT) /.test(route));
  expect(changing.length).toBeGreaterThan(6);
  for (const [route, { body, output }] of changing) {
    if (WITHOUT[route] !== undefined) continue;
    const paths = body?.safeParse({}).error?.issues.map(({ path }) => path.join("."));
    expect({ route, needed: paths?.includes("version") }).toEqual({ route, needed: true });
    expect(Object.keys((output as unknown as { shape: object }).shape)).toContain("version");
    expect(cases.map(([, { route: tried }]) => tried)).toContain(route as EditRoute);
  }
});
