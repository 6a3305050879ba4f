// What an input names besides its path: a key, channels, a model. A name of another organization is treated like a
// made-up one, and an unknown name is refused before anything is stored (hardening.md S7). Generated over all
// entries: a new one is included, or listed here as an exception. The models that a key may use are not such names:
// the list is the organization's own (docs/decisions/0077-an-entitlement-names-what-there-is.md).
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { AppRoute } from "../../src/api/client.ts";
import { type Browser, firstOperator, newMember } from "../support/browser.ts";
import { appRoutes } from "../support/endpoints.ts";
import { hello, startGateway, STORES, type TestGateway } from "../support/gateway.ts";
import { PLAIN } from "../support/models.ts";
import { type EditRoute, READ } from "../support/versions.ts";

/** Fields that name something other than what their path does. */
const NAMING = ["key", "channels", "model", "request", "find", "actor", "target", "line", "route"];
const MADE_UP: Readonly<Record<string, string>> = {
  key: "key_doesnotexist",
  channels: "chn_doesnotexist",
  model: "no-such-model",
  request: "req_00000000000000000000000000000000",
  find: "req_00000000000000000000000000000000",
  actor: "usr_doesnotexist",
  target: "key_doesnotexist",
  line: "aud_doesnotexist",
  route: "no-such-route",
};
const RULE = { kind: "key_limit", percent: 80, channels: [], on: true };
/** Bodies that are valid except for the field. A list contains the name. */
const BODIES: Readonly<Record<string, Record<string, unknown>>> = {
  "POST /orgs/{org}/alerts/rules": RULE,
  "PUT /orgs/{org}/alerts/rules/{rule}": RULE,
  "PATCH /orgs/{org}/limits": { concurrent: 3, version: "any" },
  "POST /orgs/{org}/research": { project: "p", purpose: "q" },
  "POST /orgs/{org}/playground": { request: hello(PLAIN.model) },
  "POST /orgs/{org}/playground/quote": { request: hello(PLAIN.model) },
};
/** Fields of those names that name nothing of ours: the body of a surface, an address. */
const NO_NAMES: readonly string[] = [
  "POST /orgs/{org}/playground request",
  "POST /orgs/{org}/playground/quote request",
  "POST /orgs/{org}/alerts/channels target",
];

describe.each(STORES)("on %s", (store) => {
  let gateway: TestGateway;
  let root: Browser;
  let owner: Browser;
  let org: string;
  let own: Record<"key" | "rule", string>;
  let theirs: Record<string, string>;

  beforeAll(async () => {
    gateway = await startGateway({ store, configure: (config) => (config.signIn.perMinute = 1000) });
    root = await firstOperator(gateway);
    org = (await gateway.customer()).organizationId;
    owner = await newMember(root, gateway, { org, role: "owner", email: "owner@example.com" });
    const key = (await owner.app("POST /orgs/{org}/keys", { org }, { name: "mine" })).id;
    const rule = (await owner.app("POST /orgs/{org}/alerts/rules", { org }, { ...RULE, key })).id;
    own = { key, rule };
    theirs = await another();
  });
  afterAll(() => gateway.stop());

  async function another(): Promise<Record<string, string>> {
    const customer = await gateway.customer();
    const at = { org: customer.organizationId, role: "owner", email: "stranger@example.com" } as const;
    const stranger = await newMember(root, gateway, at);
    const hook = { kind: "webhook", name: "Theirs", target: "https://hooks.example.com/theirs" };
    const params = { org: customer.organizationId };
    const channel = await stranger.app("POST /orgs/{org}/alerts/channels", params, hook);
    const { id: key } = await stranger.app("POST /orgs/{org}/keys", params, { name: "theirs" });
    const call = await gateway.chat<{ gateway: { request_id: string } }>(customer, hello(PLAIN.model));
    const request = call.json.gateway.request_id;
    const [line] = (await stranger.app("GET /orgs/{org}/audit", params)).data;
    const actor = (await stranger.app("GET /session")).person?.id ?? "";
    return { key, channels: channel.id, request, find: request, actor, target: key, line: line?.id ?? "" };
  }

  const valueOf = (field: string, id: string): unknown => (field === "channels" ? [id] : id);
  /** Without what is unique to the one call. */
  const told = (json: unknown, id: string): string =>
    JSON.stringify(json)
      .replaceAll(id, "THE-ID")
      .replaceAll(/"request_id":"[^"]*"/g, "")
      .replaceAll(/"(?:from|to|as_of|at|since)":"[^"]*"/g, "");

  const named = appRoutes().flatMap(([route, { may, query, body }]) => {
    if (!route.includes("/orgs/{org}") || may === "operate") return [];
    const fields = Object.keys(body?.shape ?? query.shape);
    return fields
      .filter((name) => NAMING.includes(name))
      .map((field) => ({ route, field, writes: body !== null }));
  });
  test("there are entries to try", () => expect(named.length).toBeGreaterThan(25));

  async function ask(route: AppRoute, field: string, id: string) {
    const params = { org, key: own.key, rule: own.rule, request: "missing" };
    if (route.startsWith("GET ")) {
      const query = `?${new URLSearchParams({ [field]: id }).toString()}`;
      return await owner.try(route, params, undefined, { query });
    }
    const read = READ[route as EditRoute] as (typeof READ)[EditRoute] | undefined;
    const version = read === undefined ? {} : { version: (await read(owner, params)).version };
    return await owner.try(route, params, { ...BODIES[route], ...version, [field]: valueOf(field, id) });
  }

  for (const { route, field, writes } of named.filter(
    ({ route, field }) =>
      !NO_NAMES.includes(`${route} ${field}`) &&
      // A tail that is not refused does not end.
      (field === "key" || !route.endsWith("/tail")),
  ))
    test(`${route}: a ${field} of another organization is treated as unknown`, async () => {
      const madeUp = MADE_UP[field] ?? "";
      const none = await ask(route, field, madeUp);
      // A key that a list is narrowed to must exist, as for a write; other filters just find nothing.
      if (writes || field === "key") {
        expect([none.status, none.json?.error?.code]).toEqual([
          404,
          expect.stringMatching(/^not_found$|^model_not_found$/),
        ]);
        expect(none.json.error).toMatchObject({ param: field });
      }
      expect(none.status).toBeLessThan(500);
      const foreign = theirs[field];
      if (foreign === undefined) return;
      const real = await ask(route, field, foreign);
      expect([real.status, told(real.json, foreign)]).toEqual([none.status, told(none.json, madeUp)]);
    });

  test("a rule can still be changed when its key was revoked; a new one cannot be about such a key", async () => {
    const key = (await owner.app("POST /orgs/{org}/keys", { org }, { name: "leaves" })).id;
    const rule = (await owner.app("POST /orgs/{org}/alerts/rules", { org }, { ...RULE, key })).id;
    await owner.app("POST /orgs/{org}/keys/{key}/revoke", { org, key });
    const read = READ["PUT /orgs/{org}/alerts/rules/{rule}"];
    const { version } = await read(owner, { org, rule });
    const off = { ...RULE, key, on: false, version };
    const changed = await owner.app("PUT /orgs/{org}/alerts/rules/{rule}", { org, rule }, off);
    expect(changed).toMatchObject({ key, on: false });
    const again = await owner.try("POST /orgs/{org}/alerts/rules", { org }, { ...RULE, key });
    expect([again.status, again.json.error]).toMatchObject([409, { code: "conflict", param: "key" }]);
  });
});
