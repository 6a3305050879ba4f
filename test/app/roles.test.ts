// Every route of the contract by every role, and by everyone of another organization: generated over the table of
// routes, so that a new route is included as soon as it is declared (hardening.md S7, S8, S10).
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { AppRoute } from "../../src/api/client.ts";
import { appRoutes } from "../support/endpoints.ts";
import { ACTIONS, type Action, allowance, ROLES, type Standing } from "../../src/domain/roles.ts";
import { Browser, firstOperator, newMember } from "../support/browser.ts";
import { startGateway, type TestGateway } from "../support/gateway.ts";
import { RESEARCH } from "../support/models.ts";
import { edit } from "../support/versions.ts";

let gateway: TestGateway;
const people = {} as Record<Standing | "stranger" | "nobody", Browser>;
let org: string;
let theirs: Record<string, string>;

beforeAll(async () => {
  gateway = await startGateway({ configure: (config) => (config.signIn.perMinute = 1000) });
  people.operator = await firstOperator(gateway);
  people.nobody = new Browser(gateway.url);
  org = (await people.operator.app("POST /operator/organizations", {}, { name: "Acme" })).id;
  for (const role of ROLES)
    people[role] = await newMember(people.operator, gateway, { org, role, email: `${role}@example.com` });
  theirs = await anotherOrganization();
});
afterAll(() => gateway.stop());

const RULE = { kind: "balance_below", amount_usd: "1", channels: [], on: true };

/** One of everything, in another person's organization. */
async function anotherOrganization(): Promise<Record<string, string>> {
  const other = (await people.operator.app("POST /operator/organizations", {}, { name: "Other" })).id;
  const at = { org: other, role: "owner", email: "stranger@example.com" } as const;
  people.stranger = await newMember(people.operator, gateway, at);
  await people.operator.app(
    "POST /operator/credits",
    {},
    {
      org: other,
      amount_usd: "5",
      kind: "purchase",
      reference: "other",
      reason: "test",
    },
  );
  const key = await people.stranger.app("POST /orgs/{org}/keys", { org: other }, { name: "Other's" });
  const reply = await gateway.chat<{ gateway: { request_id: string } }>(
    { organizationId: other, keyId: key.id, secret: key.secret ?? "" },
    { model: "plain-1", messages: [{ role: "user", content: "hi" }], max_tokens: 8 },
  );
  const invitation = await people.stranger.app(
    "POST /orgs/{org}/invitations",
    { org: other },
    { email: "late@example.com", role: "viewer" },
  );
  const asked = { model: RESEARCH.model, project: "p", purpose: "q" };
  const entitlement = await people.stranger.app("POST /orgs/{org}/research", { org: other }, asked);
  const named = { name: "Mine", query: "?range=7d" };
  const view = await people.stranger.app("PUT /orgs/{org}/usage/views", { org: other }, named);
  const rule = await people.stranger.app("POST /orgs/{org}/alerts/rules", { org: other }, RULE);
  const hook = { kind: "webhook", name: "Theirs", target: "https://hooks.example.com/theirs" };
  const channel = await people.stranger.app("POST /orgs/{org}/alerts/channels", { org: other }, hook);
  const [member] = (await people.stranger.app("GET /orgs/{org}/team", { org: other })).data;
  return {
    org: other,
    key: key.id,
    request: reply.json.gateway.request_id,
    invitation: invitation.id,
    entitlement: entitlement.id,
    member: member?.person.id ?? "",
    view: view.id,
    rule: rule.id,
    channel: channel.id,
  };
}

const guarded = appRoutes().filter(
  (entry): entry is [AppRoute, (typeof entry)[1] & { may: Action }] =>
    entry[1].may !== "anybody" && entry[1].may !== "signed_in",
);
/** Without a valid body it would really act. */
const LEAVES: AppRoute = "POST /orgs/{org}/leave";
const MADE_UP = {
  key: "key_doesnotexist",
  member: "usr_doesnotexist",
  invitation: "inv_doesnotexist",
  entitlement: "ent_doesnotexist",
  request: "req_00000000000000000000000000000000",
  order: "ord_doesnotexist",
  rule: "alr_doesnotexist",
  channel: "alc_doesnotexist",
  person: "usr_doesnotexist",
  view: "doesnotexist",
};
/** A query that no schema accepts, so that a stream does not begin. */
const call = (browser: Browser, route: AppRoute, params: Record<string, string>, body: unknown = {}) =>
  browser.try(route, params, body, { query: route.endsWith("/tail") ? "?after=never" : "" });

describe("the table of roles", () => {
  for (const [route, { may }] of guarded) {
    test(`${route} is for ${Object.keys(ACTIONS[may]).join(", ")}`, async () => {
      const params = { ...MADE_UP, org };
      for (const standing of [...ROLES, "operator"] as const) {
        if (route === LEAVES && standing !== "operator") continue;
        const { status, json } = await call(people[standing], route, params);
        const refused = status === 403 && json?.error?.code === "role_not_permitted";
        expect({ standing, refused }).toEqual({ standing, refused: allowance(standing, may) === null });
        expect({ standing, server: status >= 500 && status !== 501 }).toEqual({ standing, server: false });
      }
      const nobody = await call(people.nobody, route, params);
      expect([nobody.status, nobody.json.error.code]).toEqual([401, "not_signed_in"]);
      const stranger = await call(people.stranger, route, params);
      expect(stranger.status).toBe(may === "operate" ? 403 : 404);
    });
  }
});

describe("a person refused because of their role", () => {
  const refusal = async (browser: Browser, org: string): Promise<string> =>
    (await browser.try("POST /orgs/{org}/invitations", { org }, {})).json.error.message;

  test("learns who in the organization has one that may, three by name", async () => {
    expect(await refusal(people.viewer, org)).toEndWith(" Members who may: owner (owner), admin (admin).");
    const big = (await people.operator.app("POST /operator/organizations", {}, { name: "Big" })).id;
    const join = (role: "owner" | "admin" | "viewer", name: string): Promise<Browser> =>
      newMember(people.operator, gateway, { org: big, role, email: `${name}@big.example.com`, name });
    const viewer = await join("viewer", "Vera");
    for (const name of ["Ada", "Bo", "Cy"]) await join("admin", name);
    await join("owner", "Olga");
    const said = await refusal(viewer, big);
    expect(said).toEndWith(" Members who may: Olga (owner), Ada (admin), Bo (admin) and 1 more.");
  });

  test("learns no names without being a member: operators, and on operators' pages everyone", async () => {
    expect(await refusal(people.operator, org)).not.toContain("Members who may");
    const { json } = await people.viewer.try("GET /operator/people");
    expect(json.error.message).toBe("Your role may not do this. It requires one of these roles: operator.");
  });
});

const BODIES: Partial<Record<AppRoute, unknown>> = {
  "PATCH /orgs/{org}/team/{member}": { role: "viewer", version: "any" },
  "PATCH /orgs/{org}/keys/{key}": { limit_usd: null, version: "any" },
  "PUT /orgs/{org}/alerts/rules/{rule}": { ...RULE, version: "any" },
};

describe("another organization", () => {
  test("does not exist: the same answer as for a made-up one, on every route", async () => {
    for (const [route, { may }] of guarded.filter(
      ([route]) => route.includes("/orgs/{org}") && route !== LEAVES,
    )) {
      if (may === "operate") continue;
      const real = await call(people.owner, route, { ...MADE_UP, org: theirs["org"] ?? "" });
      const madeUp = await call(people.owner, route, { ...MADE_UP, org: "org_doesnotexist" });
      expect({ route, status: real.status }).toEqual({ route, status: 404 });
      expect({ ...real.json.error, request_id: "" }).toEqual({ ...madeUp.json.error, request_id: "" });
    }
  });

  test("its ids under our own organization name nothing", async () => {
    for (const [route, { may }] of guarded) {
      const names = [...route.matchAll(/\{(\w+)\}/g)]
        .map(([, name = ""]) => name)
        .filter((name) => name !== "org");
      if (names.length === 0 || may === "operate") continue;
      const real = await call(people.owner, route, { ...MADE_UP, ...theirs, org }, BODIES[route]);
      const madeUp = await call(people.owner, route, { ...MADE_UP, org }, BODIES[route]);
      expect({ route, status: real.status }).toEqual({ route, status: 404 });
      // The answer repeats the requested id and nothing more.
      const asked = names.at(-1) as keyof typeof MADE_UP;
      const message = real.json.error.message.replace(theirs[asked] ?? MADE_UP[asked], MADE_UP[asked]);
      expect({ ...real.json.error, message, request_id: "" }).toEqual({
        ...madeUp.json.error,
        request_id: "",
      });
    }
    const found = await people.owner.app(
      "GET /orgs/{org}/activity",
      { org },
      undefined,
      `?find=${theirs["request"]}`,
    );
    expect(found.data).toEqual([]);
  });

  test("trying changed nothing of it", async () => {
    const key = await people.stranger.app("GET /orgs/{org}/keys/{key}", {
      org: theirs["org"] ?? "",
      key: theirs["key"] ?? "",
    });
    expect(key.state).toBe("active");
    const [asked] = (await people.stranger.app("GET /orgs/{org}/research", { org: theirs["org"] ?? "" }))
      .data;
    expect(asked?.state).toBe("requested");
  });
});

describe("a developer", () => {
  test("changes the keys that they made, and no other", async () => {
    const own = await people.developer.app("POST /orgs/{org}/keys", { org }, { name: "mine" });
    const other = await people.owner.app("POST /orgs/{org}/keys", { org }, { name: "not mine" });
    await edit(people.developer, "PATCH /orgs/{org}/keys/{key}", { org, key: own.id }, { limit_usd: "1" });
    const refused = await people.developer.try("POST /orgs/{org}/keys/{key}/revoke", { org, key: other.id });
    expect([refused.status, refused.json.error.code]).toEqual([403, "role_not_permitted"]);
    await people.admin.app("POST /orgs/{org}/keys/{key}/revoke", { org, key: own.id });
  });
});

describe("owners", () => {
  const idOf = async (role: Standing): Promise<string> =>
    (await people[role].app("GET /session")).person?.id ?? "";

  test("are made, changed and removed by owners only; the last one stays", async () => {
    const owner = { org, member: await idOf("owner") };
    for (const [method, body] of [
      ["PATCH", { role: "viewer", version: "any" }],
      ["DELETE", {}],
    ] as const) {
      const answer = await people.admin.try(`${method} /orgs/{org}/team/{member}`, owner, body);
      expect([method, answer.status, answer.json.error.code]).toEqual([method, 403, "role_not_permitted"]);
    }
    const promoted = await people.admin.try(
      "POST /orgs/{org}/invitations",
      { org },
      { email: "o@example.com", role: "owner" },
    );
    expect(promoted.status).toBe(403);
    const last = await people.owner.try("POST /orgs/{org}/leave", { org });
    expect([last.status, last.json.error.code]).toEqual([409, "conflict"]);
  });

  test("who change a role end that person's sessions", async () => {
    const member = await idOf("viewer");
    const changed = await edit(
      people.owner,
      "PATCH /orgs/{org}/team/{member}",
      { org, member },
      { role: "billing" },
    );
    expect(changed.role).toBe("billing");
    expect((await people.viewer.try("GET /profile")).status).toBe(401);
  });
});
