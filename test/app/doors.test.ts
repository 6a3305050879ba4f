// Every endpoint under every prefix, by every kind of caller: generated from the API's description, so that an entry
// is included as soon as it is declared. What each role may do with a session is in roles.test.ts.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathFields, pathOf } from "../../src/api/target.ts";
import { type Browser, firstOperator, newOperator } from "../support/browser.ts";
import { TARGETS } from "../support/endpoints.ts";
import { startGateway, type TestGateway } from "../support/gateway.ts";

const AT_KEYS = TARGETS.filter(({ target }) => pathOf(target).startsWith("/admin/v1/"));
const AT_SESSIONS = TARGETS.filter(({ target }) => pathOf(target).startsWith("/app/v1/"));
/** It would end the key that the others are tried with. */
const ENDS_ITSELF = "POST /admin/v1/logout";

let gateway: TestGateway;
let root: Browser;
const keys = {} as Record<"installation" | "person" | "revoked" | "removed" | "inference", string>;

beforeAll(async () => {
  gateway = await startGateway({ configure: (config) => (config.signIn.perMinute = 1000) });
  root = await firstOperator(gateway);
  const file = readFileSync(join(gateway.dataDir, "operator.json"), "utf8");
  keys.installation = (JSON.parse(file) as { token: string }).token;
  keys.inference = (await gateway.customer()).secret;
  keys.person = await keyOf(root, "of a person");
  keys.revoked = await keyOf(root, "revoked");
  const { data } = await root.app("GET /operator/management-keys");
  const revoked = data.find(({ name }) => name === "revoked")?.id ?? "";
  await root.app("POST /operator/management-keys/{key}/revoke", { key: revoked });
  const former = await newOperator(root, gateway, "former@example.com");
  keys.removed = await keyOf(former, "of one who left");
  const { person } = await former.app("GET /session");
  await root.app("DELETE /operator/people/{person}", { person: person?.id ?? "" });
});
afterAll(() => gateway.stop());

const keyOf = async (browser: Browser, name: string): Promise<string> =>
  (await browser.app("POST /operator/management-keys", {}, { name })).secret ?? "";

interface Answered {
  status: number;
  code: string | null;
}

/** With ids that name nothing, and without the fields that an input needs. */
async function call(target: string, headers: Record<string, string>): Promise<Answered> {
  const [method = "", path = ""] = target.split(" ");
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => `${PREFIXES[name] ?? "x"}_doesnotexist`);
  const response = await fetch(`${gateway.url}${filled}${path.endsWith("/tail") ? "?after=never" : ""}`, {
    method,
    headers: { "content-type": "application/json", origin: gateway.url, ...headers },
    ...(method !== "GET" && { body: "{}" }),
  });
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json") ?? false;
  const json = isJson ? (JSON.parse(text) as { error?: { code: string } }) : {};
  return { status: response.status, code: json.error?.code ?? null };
}
const PREFIXES: Record<string, string> = { org: "org", key: "key", order: "ord", request: "req", id: "ent" };
const bearer = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` });

describe("endpoints for management keys", () => {
  test("there are some", () => expect(AT_KEYS.length).toBeGreaterThan(25));
  for (const { target } of AT_KEYS)
    test(`${target} accepts a valid management key, and nothing else`, async () => {
      const none = { status: 401, code: "invalid_api_key" };
      expect(await call(target, {})).toEqual(none);
      expect(await call(target, { cookie: root.cookie })).toEqual(none);
      expect(await call(target, bearer(`${keys.installation}x`))).toEqual(none);
      expect(await call(target, bearer(keys.revoked))).toEqual(none);
      expect(await call(target, bearer(keys.removed))).toEqual(none);
      const inference = await call(target, bearer(keys.inference));
      expect(inference).toEqual({ status: 403, code: "scope_not_permitted" });
      if (target === ENDS_ITSELF) return;
      for (const key of [keys.installation, keys.person]) {
        const { status } = await call(target, bearer(key));
        expect([401, 403, 405].includes(status) || status >= 500).toBe(false);
      }
    });
});

describe("endpoints for sessions", () => {
  test("there are some", () => expect(AT_SESSIONS.length).toBeGreaterThan(100));
  for (const { target, endpoint } of AT_SESSIONS)
    test(`${target} takes no key for a session${endpoint.who === "anybody" ? "" : ", and nobody without one"}`, async () => {
      for (const headers of [{}, bearer(keys.installation), bearer(keys.inference)]) {
        const { code } = await call(target, headers);
        expect(code === "not_signed_in").toBe(endpoint.who !== "anybody");
      }
      if (target.startsWith("GET ")) return;
      for (const origin of ["https://elsewhere.example.com", "null"]) {
        const forged = await call(target, { cookie: root.cookie, origin });
        expect(forged).toEqual({ status: 403, code: "origin_not_allowed" });
      }
    });
});

test("every parameter of a path is a field of the input, under every prefix", () => {
  for (const { target, endpoint } of TARGETS)
    for (const name of pathFields(target))
      expect({ target, field: Object.hasOwn(endpoint.input.shape, name) && name }).toEqual({
        target,
        field: name,
      });
});
