// Logging in the command line (RFC 8628), by its HTTP calls on both stores: one approval gives one key, once, to the
// holder of the long code; guesses, replays and impatient polling get nothing.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type DeviceCodeJson, DEVICE_REFUSALS } from "../../src/api/shapes/devices.ts";
import { ageSessions } from "../support/aged-sessions.ts";
import { Browser, firstOperator, newMember, PASSWORD, signInAgain } from "../support/browser.ts";
import { type TestClock, testClock } from "../support/clock.ts";
import { askForCodes as ask, poll, type Polled, postJson as post } from "../support/device.ts";
import { startGateway, STORES, type Store, type TestGateway } from "../support/gateway.ts";
import { auditLog } from "../support/audit-log.ts";

const MINUTE_MS = 60_000;
const find = (browser: Browser, user_code: string) =>
  browser.try("POST /operator/devices/find", {}, { user_code });

async function decide(browser: Browser, userCode: string, act: "approve" | "decline"): Promise<void> {
  const { id } = await browser.app("POST /operator/devices/find", {}, { user_code: userCode });
  await browser.app(`POST /operator/devices/{device}/${act}`, { device: id });
}

const adminCall = async (url: string, token: string, path: string, method = "GET"): Promise<number> =>
  (await fetch(`${url}/admin/v1${path}`, { method, headers: { authorization: `Bearer ${token}` } })).status;

describe.each([...STORES])("%s", (store: Store) => {
  let clock: TestClock;
  let gateway: TestGateway;
  let root: Browser;
  beforeAll(async () => {
    clock = testClock();
    gateway = await startGateway({ store, clock, configure: (config) => (config.signIn.perMinute = 1000) });
    root = await firstOperator(gateway);
  }, 120_000);
  afterAll(() => gateway.stop());

  /** Past every throttle and every interval. */
  const later = (): void => clock.advance(11 * MINUTE_MS);
  const actions = async (): Promise<[string, string][]> =>
    (await auditLog(gateway.ledger, { limit: 200 })).map(({ action, actor }) => [action, actor]);
  async function approved(): Promise<Required<Polled["json"]>> {
    const { device_code, user_code } = await ask(gateway.url);
    await decide(root, user_code, "approve");
    const { json, text } = await poll(gateway.url, device_code);
    if (json.access_token === undefined) throw new Error(text);
    return json as Required<Polled["json"]>;
  }

  test("the codes follow the RFC, and only their digests are stored", async () => {
    const asked = await ask(gateway.url);
    expect(asked.user_code).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
    expect(asked).toMatchObject({
      verification_uri: `${gateway.url}/device`,
      verification_uri_complete: `${gateway.url}/device?code=${asked.user_code}`,
      expires_in: 600,
      interval: 5,
    });
    const rows = JSON.stringify(await gateway.rowsOf("device_login"));
    expect(rows).toContain("laptop");
    for (const code of [asked.device_code, asked.user_code, asked.user_code.replace("-", "")])
      expect(rows).not.toContain(code);
  });

  test("an approval gives a key that operates the gateway, once, with its name, its expiry and its audit lines", async () => {
    later();
    const { device_code, user_code } = await ask(gateway.url);
    expect((await poll(gateway.url, device_code)).json.error).toBe("authorization_pending");
    clock.advance(5_000);
    const found = await root.app("POST /operator/devices/find", {}, { user_code: user_code.toLowerCase() });
    expect(found).toMatchObject({ host: "laptop", address: "127.0.0.1", version: "0.1.0", state: "open" });
    await root.app("POST /operator/devices/{device}/approve", { device: found.id });
    const answer = await poll(gateway.url, device_code);
    expect([answer.status, answer.headers.get("cache-control")]).toEqual([200, "no-store"]);
    expect(answer.json).toMatchObject({
      token_type: "Bearer",
      expires_in: 30 * 86_400,
      name: "CLI of Root on laptop",
    });
    const token = answer.json.access_token ?? "";
    expect(token).toMatch(/^gw_mk_/);
    expect(await adminCall(gateway.url, token, "/organizations")).toBe(200);
    clock.advance(5_000);
    const replayed = await poll(gateway.url, device_code);
    expect([replayed.status, replayed.json.error]).toEqual([400, "invalid_grant"]);
    expect(replayed.text).not.toContain("gw_mk_");
    const { id: me = "" } = (await root.app("GET /session")).person ?? {};
    expect(await actions()).toEqual(
      expect.arrayContaining([
        ["device.approve", me],
        ["management_key.create", me],
      ]),
    );
    const { data } = await root.app("GET /operator/management-keys");
    const listed = data.find(({ id }) => id === answer.json.key);
    expect(listed).toMatchObject({ name: "CLI of Root on laptop", state: "active" });
    expect(Date.parse(listed?.expires_at ?? "")).toBeGreaterThan(clock.nowMs() + 29 * 86_400_000);
    expect(JSON.stringify(await gateway.rowsOf("device_login"))).not.toContain(token);
  });

  test("of many polls concurrent with the approval one gets the key", async () => {
    later();
    const { device_code, user_code } = await ask(gateway.url);
    await decide(root, user_code, "approve");
    const answers = await Promise.all(Array.from({ length: 8 }, () => poll(gateway.url, device_code)));
    expect(answers.filter(({ json }) => json.access_token !== undefined)).toHaveLength(1);
  });

  test("the key opens nothing after its thirty days", async () => {
    later();
    const { access_token } = await approved();
    clock.advance(29 * 86_400_000);
    expect(await adminCall(gateway.url, access_token, "/organizations")).toBe(200);
    clock.advance(2 * 86_400_000);
    expect(await adminCall(gateway.url, access_token, "/organizations")).toBe(401);
    await signInAgain(root);
    const { data } = await root.app("GET /operator/management-keys");
    expect(data.some(({ state }) => state === "expired")).toBe(true);
  });

  test("logging out revokes the calling key, and records who did", async () => {
    later();
    const { access_token, key } = await approved();
    expect(await adminCall(gateway.url, access_token, "/logout", "POST")).toBe(200);
    expect(await adminCall(gateway.url, access_token, "/organizations")).toBe(401);
    expect(await actions()).toContainEqual(["management_key.revoke", key]);
  });

  test("declining gives nothing", async () => {
    later();
    const { device_code, user_code } = await ask(gateway.url);
    await decide(root, user_code, "decline");
    const answer = await poll(gateway.url, device_code);
    expect([answer.status, answer.json.error]).toEqual([400, "access_denied"]);
    expect((await find(root, user_code)).status).toBe(404);
    expect((await actions()).map(([action]) => action)).toContain("device.decline");
  });

  test("a decision is made once", async () => {
    later();
    const { user_code } = await ask(gateway.url);
    const { id: device } = await root.app("POST /operator/devices/find", {}, { user_code });
    const both = await Promise.all(
      (["approve", "decline"] as const).map((act) =>
        root.try(`POST /operator/devices/{device}/${act}`, { device }),
      ),
    );
    expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);
  });

  test("after ten minutes the code is too old to approve, and to fetch", async () => {
    later();
    const early = await ask(gateway.url);
    const { id: device } = await root.app("POST /operator/devices/find", {}, { user_code: early.user_code });
    const yes = await ask(gateway.url);
    await decide(root, yes.user_code, "approve");
    clock.advance(10 * MINUTE_MS + 1_000);
    expect((await find(root, early.user_code)).status).toBe(404);
    expect((await root.try("POST /operator/devices/{device}/approve", { device })).status).toBe(409);
    for (const { device_code } of [early, yes])
      expect((await poll(gateway.url, device_code)).json.error).toBe("expired_token");
  });

  test("polling too fast is slowed down, by five seconds more each time", async () => {
    later();
    const { device_code } = await ask(gateway.url);
    const after = async (ms: number): Promise<string | undefined> => {
      clock.advance(ms);
      return (await poll(gateway.url, device_code)).json.error;
    };
    expect(await after(0)).toBe("authorization_pending");
    expect(await after(1_000)).toBe("slow_down");
    expect(await after(6_000)).toBe("slow_down");
    expect(await after(15_000)).toBe("authorization_pending");
  });

  test("a made-up device code, another client and a form get no further", async () => {
    expect((await poll(gateway.url, "gw_dc_made_up")).json.error).toBe("invalid_grant");
    const other = { client_id: "other", host: "laptop", version: "1" };
    expect((await post(`${gateway.url}/device/code`, other)).status).toBe(400);
    const named = { client_id: "tollgate-cli", host: "laptop\nSet-Cookie: x", version: "1" };
    expect((await post(`${gateway.url}/device/code`, named)).status).toBe(400);
    const form = await fetch(`${gateway.url}/device/code`, {
      method: "POST",
      body: new URLSearchParams(other),
    });
    expect(form.status).toBe(415);
  });

  test("members who are no operators may neither look nor approve; nor may another origin", async () => {
    later();
    const { device_code, user_code } = await ask(gateway.url);
    const { id: org } = await root.app("POST /operator/organizations", {}, { name: "Acme" });
    const olga = await newMember(root, gateway, { org, role: "owner", email: "olga@example.com" });
    expect((await find(olga, user_code)).json).toMatchObject({ error: { code: "role_not_permitted" } });
    expect((await find(new Browser(gateway.url), user_code)).status).toBe(401);
    const { id: device } = await root.app("POST /operator/devices/find", {}, { user_code });
    expect((await olga.try("POST /operator/devices/{device}/approve", { device })).status).toBe(403);
    const foreign = { headers: { origin: "https://evil.example.com" } };
    const forged = await root.try("POST /operator/devices/{device}/approve", { device }, {}, foreign);
    expect(forged.json.error.code).toBe("origin_not_allowed");
    expect((await poll(gateway.url, device_code)).json.error).toBe("authorization_pending");
  });

  test("a restart loses nothing: requested before it, approved after it, fetched after another one", async () => {
    later();
    const { device_code, user_code } = await ask(gateway.url);
    await gateway.restart();
    await decide(root, user_code, "approve");
    await gateway.restart();
    expect((await poll(gateway.url, device_code)).json.access_token).toMatch(/^gw_mk_/);
  }, 120_000);

  test("removing an operator ends their logins, and what they approved no longer gives a key", async () => {
    later();
    const { link } = await root.app("POST /operator/people", {}, { email: "eve@example.com" });
    const eve = new Browser(gateway.url);
    const account = { name: "Eve", password: PASSWORD };
    await eve.app("POST /invitations/accept", {}, { token: link?.split("#token=")[1], account });
    await eve.send("POST", "/auth/sign-in/email", { email: "eve@example.com", password: PASSWORD });
    const first = await ask(gateway.url, "hers");
    await decide(eve, first.user_code, "approve");
    const { access_token = "" } = (await poll(gateway.url, first.device_code)).json;
    expect(await adminCall(gateway.url, access_token, "/organizations")).toBe(200);
    const second = await ask(gateway.url, "hers");
    await decide(eve, second.user_code, "approve");
    const { id: person = "" } = (await eve.app("GET /session")).person ?? {};
    await root.app("DELETE /operator/people/{person}", { person });
    expect(await adminCall(gateway.url, access_token, "/organizations")).toBe(401);
    expect((await poll(gateway.url, second.device_code)).json.error).toBe("access_denied");
  });

  test("ten codes may be tried in ten minutes, even concurrently; then the right one has to wait, too", async () => {
    later();
    const { user_code } = await ask(gateway.url);
    const wrong = await Promise.all(
      Array.from({ length: 14 }, (_, n) => find(root, `BBBBBBB${"BCDFGHJKLMNPQRSTVWXZ"[n]}`)),
    );
    const statuses = wrong.map(({ status }) => status);
    expect(statuses.filter((status) => status === 404).length).toBeLessThanOrEqual(10);
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThanOrEqual(4);
    expect((await find(root, user_code)).status).toBe(429);
    await gateway.restart();
    expect((await find(root, user_code)).status).toBe(429);
    clock.advance(10 * MINUTE_MS + 1_000);
    expect((await find(root, (await ask(gateway.url)).user_code)).status).toBe(200);
  }, 120_000);

  test("ten logins a minute may be requested from one address", async () => {
    later();
    for (let n = 0; n < 10; n++) await ask(gateway.url);
    const refused = await post(`${gateway.url}/device/code`, {
      client_id: "tollgate-cli",
      host: "laptop",
      version: "0.1.0",
    });
    expect([refused.status, refused.headers.has("retry-after")]).toEqual([429, true]);
    clock.advance(MINUTE_MS + 1);
    await ask(gateway.url);
  });

  test("a network counts as one address; a thousand pending codes block nobody, and only their own network loses any", async () => {
    const standing = testClock();
    const proxied = await startGateway({
      store,
      clock: standing,
      configure: (config) => (config.server.trustedProxies = ["127.0.0.1"]),
    });
    try {
      const operator = await firstOperator(proxied);
      const askFrom = async (address: string): Promise<Partial<DeviceCodeJson> & { status: number }> => {
        const asked = { client_id: "tollgate-cli", host: "laptop", version: "0.1.0" };
        const { status, json } = await post(`${proxied.url}/device/code`, asked, {
          "x-forwarded-for": address,
        });
        return { ...json, status };
      };
      const mine = await askFrom("192.0.2.1");
      const first = await askFrom("2001:db8:9::1");
      const statuses: number[] = [];
      for (let network = 0; network < 100; network += 1) {
        standing.advance(1);
        statuses.push(
          ...(await Promise.all(
            Array.from({ length: network === 0 ? 9 : 10 }, (_, n) =>
              askFrom(`2001:db8:9:${network.toString(16)}:${n}::1`),
            ),
          ).then((asked) => asked.map(({ status }) => status))),
        );
      }
      expect([statuses.length, new Set(statuses)]).toEqual([999, new Set([200])]);
      expect((await askFrom("2001:db8:9:1:ffff::1")).status).toBe(429);
      const late = await askFrom("192.0.2.2");
      expect(late.status).toBe(200);
      for (const { user_code = "" } of [mine, late])
        expect((await find(operator, user_code)).status).toBe(200);
      expect((await poll(proxied.url, first.device_code ?? "")).json.error).toBe("invalid_grant");
      expect((await proxied.rowsOf("device_login")).length).toBe(1_000);
    } finally {
      await proxied.stop();
    }
  }, 120_000);
});

test("every code that a terminal is refused with is explained", () => {
  const explained = readFileSync(join(import.meta.dir, "../../docs/errors.md"), "utf8");
  for (const code of Object.keys(DEVICE_REFUSALS)) expect(explained).toContain(`| \`${code}\` |`);
});

test("a sign-in of yesterday approves nothing", async () => {
  const gateway = await startGateway({ store: "sqlite" });
  try {
    const root = await firstOperator(gateway);
    const { user_code } = await ask(gateway.url);
    const { id: device } = await root.app("POST /operator/devices/find", {}, { user_code });
    await ageSessions(gateway, 13 * 3_600_000);
    for (const refused of [
      await root.try("POST /operator/devices/{device}/approve", { device }),
      await find(root, user_code),
    ])
      expect([refused.status, refused.json.error.code]).toEqual([403, "sign_in_again"]);
  } finally {
    await gateway.stop();
  }
});
