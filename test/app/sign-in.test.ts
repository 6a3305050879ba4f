// Signing in: the one-time link, passwords, sessions that end on the server, the throttle, Origin (hardening.md
// S25–S28).
import { afterAll, beforeAll, expect, test } from "bun:test";
import { scryptSync } from "node:crypto";
import { Browser, PASSWORD, tokenOf } from "../support/browser.ts";
import { openDisk } from "../support/damage.ts";
import { startGateway, type TestGateway } from "../support/gateway.ts";

let gateway: TestGateway;
let root: Browser;
let databaseUrl: string | null = null;

beforeAll(async () => {
  gateway = await startGateway({
    realPasswords: true,
    configure: (config) => {
      config.signIn.perMinute = 12;
      databaseUrl = config.databaseUrl;
    },
  });
});
afterAll(() => gateway.stop());

const EMAIL = "root@example.com";
const signIn = (browser: Browser, password = PASSWORD) =>
  browser.send<{ error?: { code: string } }>("POST", "/auth/sign-in/email", { email: EMAIL, password });

test("before the first account, a visitor is told so and may do nothing", async () => {
  const visitor = new Browser(gateway.url);
  const session = await visitor.app("GET /session");
  expect(session).toMatchObject({ person: null, first_run: true, ways: { password: true } });
  const profile = await visitor.try("GET /profile");
  expect([profile.status, profile.json.error.code]).toEqual([401, "not_signed_in"]);
  expect(profile.json.error.request_id).toBe(profile.headers.get("x-request-id") ?? "");
  const signUp = await visitor.send("POST", "/auth/sign-up/email", {
    name: "x",
    email: "x@example.com",
    password: PASSWORD,
  });
  expect(signUp.status).toBe(404);
});

test("the link of the start banner makes one account, an operator; of two visitors one gets in", async () => {
  expect(gateway.signInLink).toStartWith(`${gateway.url}/welcome#token=`);
  const guess = await new Browser(gateway.url).try(
    "POST /welcome",
    {},
    {
      token: "guessed",
      name: "Eve",
      email: "eve@example.com",
      password: PASSWORD,
    },
  );
  expect([guess.status, guess.json.error.code]).toEqual([410, "link_not_valid"]);
  const [first, second] = [new Browser(gateway.url), new Browser(gateway.url)];
  const token = tokenOf(gateway.signInLink);
  const answers = await Promise.all(
    [first, second].map((browser) =>
      browser.try("POST /welcome", {}, { token, name: "Root", email: EMAIL, password: PASSWORD }),
    ),
  );
  expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 410]);
  root = answers[0]?.status === 200 ? first : second;
  expect((await root.app("GET /session")).person).toMatchObject({ name: "Root", operator: true });
  const again = await new Browser(gateway.url).try(
    "POST /welcome",
    {},
    { token, name: "x", email: "y@example.com", password: PASSWORD },
  );
  expect(again.status).toBe(410);
  expect((await new Browser(gateway.url).app("GET /session")).first_run).toBe(false);
});

test("a password signs in, a wrong one and an unknown address look alike; the token is only in the cookie", async () => {
  const browser = new Browser(gateway.url);
  const wrong = await signIn(browser, "wrong horse battery");
  const unknown = await browser.send<{ error: { code: string } }>("POST", "/auth/sign-in/email", {
    email: "nobody@example.com",
    password: PASSWORD,
  });
  expect([wrong.status, unknown.status]).toEqual([401, 401]);
  expect(wrong.json.error?.code).toBe(unknown.json.error.code);
  const right = await signIn(browser);
  expect(right.status).toBe(200);
  const [cookie = ""] = right.headers.getSetCookie();
  expect(cookie).toMatch(/HttpOnly/);
  expect(cookie).toMatch(/SameSite=Lax/i);
  expect(right.text).not.toContain(cookie.split("=")[1]?.split(".")[0] ?? "?");
  expect(right.headers.get("cache-control")).toBe("no-store");
  expect((await browser.app("GET /session")).person?.email).toBe(EMAIL);
});

test("a password is stored as its scrypt hash, with a salt of its own, at a cost that each guess pays", async () => {
  const disk = await openDisk({ dataDir: gateway.dataDir, databaseUrl });
  const kept = async (): Promise<string> => {
    const [row] = await disk.rows("people", `SELECT password FROM ${disk.named("people", "account")}`);
    return String(row?.["password"]);
  };
  const before = await kept();
  const [salt = "", key = ""] = before.split(":");
  expect(salt).toMatch(/^[0-9a-f]{32}$/);
  const cost = { N: 16_384, r: 16, p: 1, maxmem: 64 * 1024 * 1024 };
  expect(scryptSync(PASSWORD, salt, 64, cost).toString("hex")).toBe(key);
  await root.app("POST /profile/password", {}, { current: PASSWORD, next: PASSWORD });
  expect(await kept()).not.toBe(before);
  await disk.close();
});

test("signing out ends the session on the server: the old cookie is dead", async () => {
  const browser = new Browser(gateway.url);
  await signIn(browser);
  const kept = browser.copy();
  await kept.app("GET /profile");
  expect((await browser.send("POST", "/auth/sign-out")).status).toBe(200);
  expect((await kept.try("GET /profile")).status).toBe(401);
});

test("a person sees their sessions, ends one, and a new password ends all others", async () => {
  const [here, there] = [new Browser(gateway.url), new Browser(gateway.url)];
  await signIn(here);
  await signIn(there);
  const { sessions } = await here.app("GET /profile");
  expect(sessions.filter(({ current }) => current)).toHaveLength(1);
  const mine = (await there.app("GET /profile")).sessions.find(({ current }) => current);
  await here.app("DELETE /profile/sessions/{session}", { session: mine?.id ?? "" });
  expect((await there.try("GET /profile")).status).toBe(401);
  expect((await here.try("DELETE /profile/sessions/{session}", { session: "ses_unknown" })).status).toBe(404);
  const wrong = await here.try("POST /profile/password", {}, { current: "not it at all", next: PASSWORD });
  expect(wrong.status).toBe(400);
  await here.app("POST /profile/password", {}, { current: PASSWORD, next: PASSWORD });
  expect((await root.try("GET /profile")).status).toBe(401);
  expect((await here.try("GET /profile")).status).toBe(200);
  root = here;
});

test("changes need our own Origin and JSON", async () => {
  const body = { name: "Other" };
  for (const origin of ["http://evil.example", "null", `${gateway.url}.evil.example`]) {
    const answer = await root.try("PATCH /profile", {}, body, { headers: { origin } });
    expect([origin, answer.status, answer.json.error.code]).toEqual([origin, 403, "origin_not_allowed"]);
    const auth = await root.send("POST", "/auth/sign-out", {}, { origin });
    expect(auth.status).toBe(403);
  }
  const bare = await fetch(`${gateway.url}/app/v1/profile`, {
    method: "PATCH",
    headers: { cookie: root.cookie, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  expect(bare.status).toBe(403);
  const form = await root.send(
    "POST",
    "/app/v1/profile/sessions/end-others",
    {},
    { "content-type": "text/plain" },
  );
  expect(form.status).toBe(415);
  expect((await root.app("GET /session")).person?.name).toBe("Root");
});

test("a forged cookie is nobody, and a session authorizes no inference", async () => {
  const forged = await fetch(`${gateway.url}/app/v1/session`, {
    headers: { cookie: `${root.cookie.slice(0, -12)}AAAAAAAAAAAA` },
  });
  expect(((await forged.json()) as { person: unknown }).person).toBeNull();
  const key = await fetch(`${gateway.url}/v1/models`, { headers: { cookie: root.cookie } });
  expect(key.status).toBe(401);
});

test("sign-in is throttled per address, with a time to wait", async () => {
  const browser = new Browser(gateway.url);
  const statuses: number[] = [];
  for (let i = 0; i < 16; i++) statuses.push((await signIn(browser, "wrong horse battery")).status);
  expect(statuses).toContain(429);
  const refused = await signIn(browser);
  expect([refused.status, refused.json.error?.code]).toEqual([429, "rate_limit_exceeded"]);
  const seconds = Number(refused.headers.get("retry-after"));
  expect(seconds).toBeGreaterThan(0);
  const said = ["retry-after-ms", "x-should-retry"].map((name) => refused.headers.get(name));
  expect(said).toEqual([String(seconds * 1000), "true"]);
  const forwarded = await browser.send(
    "POST",
    "/auth/sign-in/email",
    { email: EMAIL, password: PASSWORD },
    { "x-forwarded-for": "203.0.113.9", "x-tollgate-address": "203.0.113.9" },
  );
  expect(forwarded.status).toBe(429);
});

test("a client told to wait is told so again without asking the store, and only for that form", async () => {
  const disk = await openDisk({ dataDir: gateway.dataDir, databaseUrl });
  const browser = new Browser(gateway.url);
  const tries = async (): Promise<number> => {
    const table = disk.named("people", "rateLimit");
    return Number(
      (await disk.rows("people", `SELECT count(*) AS n FROM ${table} WHERE key LIKE '%/email'`))[0]?.["n"],
    );
  };
  expect((await signIn(browser)).status).toBe(429);
  expect(await tries()).toBe(1);
  await disk.rows("people", `DELETE FROM ${disk.named("people", "rateLimit")}`);
  for (let n = 0; n < 20; n += 1) expect((await signIn(browser)).status).toBe(429);
  expect(await tries()).toBe(0);
  expect((await browser.send("GET", "/auth/passkey/generate-authenticate-options")).status).toBe(200);
  await disk.close();
});
