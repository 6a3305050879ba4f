// `tollgate login` and `logout` on another machine: where the key is stored, which gateway a command finds, what
// happens to a login that is declined, expired, replaced or gone.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Browser, firstOperator } from "../support/browser.ts";
import { type TestClock, testClock } from "../support/clock.ts";
import { startGateway, type TestGateway } from "../support/gateway.ts";
import { type Ran, Terminal } from "../support/terminal.ts";

interface Saved {
  logins: Record<string, { token: string; key: string; person: string; expires_at: string }>;
}

let clock: TestClock;
let gateway: TestGateway;
let root: Browser;
const terminal = new Terminal();

beforeAll(async () => {
  clock = testClock();
  gateway = await startGateway({ clock, deviceIntervalMs: 200 });
  root = await firstOperator(gateway);
});
afterAll(async () => {
  await gateway.stop();
  terminal.close();
});

const saved = (): Saved => JSON.parse(readFileSync(terminal.credentials, "utf8")) as Saved;
const keysOf = async (): Promise<Record<string, string>> =>
  Object.fromEntries(
    (await root.app("GET /operator/management-keys")).data.map(({ id, state }) => [id, state]),
  );

async function login(act: "approve" | "decline" = "approve"): Promise<Ran> {
  const waiting = await terminal.login(`${gateway.url}/`);
  const { id: device } = await root.app("POST /operator/devices/find", {}, { user_code: waiting.userCode });
  await root.app(`POST /operator/devices/{device}/${act}`, { device });
  return await waiting.ended;
}

test("without a gateway a command says how to log in", async () => {
  const { code, err } = await terminal.run(["org", "list"]);
  expect([code, err]).toEqual([1, expect.stringContaining("./tollgate login --url")]);
  const nobody = await terminal.run(["login", "--json"]);
  expect([nobody.code, nobody.out]).toEqual([1, expect.stringContaining("--url")]);
  expect((await terminal.run(["login", "--url", "http://127.0.0.1:1"])).code).toBe(1);
});

let first: Saved["logins"][string];

test("a login is stored for its gateway, readable by nobody else, and never printed", async () => {
  const ran = await login();
  expect(ran.code).toBe(0);
  const told = JSON.parse(ran.out) as Record<string, string>;
  expect(told).toMatchObject({
    gateway: gateway.url,
    person: "root@example.com",
    file: terminal.credentials,
  });
  first = saved().logins[gateway.url] as typeof first;
  expect(first.token).toMatch(/^gw_mk_/);
  expect(ran.out + ran.err).not.toContain(first.token);
  expect(statSync(terminal.credentials).mode & 0o777).toBe(0o600);
  expect(statSync(dirname(terminal.credentials)).mode & 0o777).toBe(0o700);
  expect((await keysOf())[first.key]).toBe("active");
}, 120_000);

test("then commands find the gateway by themselves, and another address has no login", async () => {
  expect(await terminal.run(["org", "create", "--name", "Acme", "--json"])).toMatchObject({ code: 0 });
  expect(await terminal.run(["org", "list", "--url", `${gateway.url}/v1`])).toMatchObject({ code: 0 });
  const elsewhere = await terminal.run(["org", "list", "--url", "http://127.0.0.1:1"]);
  expect([elsewhere.code, elsewhere.err]).toEqual([
    1,
    expect.stringContaining("no login at http://127.0.0.1:1"),
  ]);
});

test("flags come before the environment, then operator.json, then the login", async () => {
  const wrong = `gw_mk_${"0".repeat(61)}`;
  const list = (flags: string[], env: Record<string, string> = {}): Promise<Ran> =>
    terminal.run(["org", "list", ...flags], env);
  expect((await list([], { TOLLGATE_TOKEN: wrong })).err).toContain("invalid_api_key");
  expect(await list(["--token", first.token], { TOLLGATE_TOKEN: wrong })).toMatchObject({ code: 0 });
  mkdirSync(join(terminal.home, "data"));
  const file = join(terminal.home, "data", "operator.json");
  writeFileSync(file, JSON.stringify({ url: gateway.url, token: wrong }));
  expect((await list([])).err).toContain("invalid_api_key");
  expect(await list([], { TOLLGATE_TOKEN: first.token })).toMatchObject({ code: 0 });
  // Of another gateway: the named one has a login.
  writeFileSync(file, JSON.stringify({ url: "http://127.0.0.1:1", token: wrong }));
  expect(await list(["--url", gateway.url])).toMatchObject({ code: 0 });
  expect(await list([], { TOLLGATE_URL: gateway.url })).toMatchObject({ code: 0 });
  writeFileSync(file, JSON.stringify({ url: gateway.url, token: first.token }));
  expect(await list([])).toMatchObject({ code: 0 });
  expect((await terminal.run(["logout", "--url", "http://127.0.0.1:1"])).code).toBe(1);
  await Bun.file(file).delete();
});

test("a second login replaces the first one, whose key is revoked", async () => {
  expect((await login()).code).toBe(0);
  const second = saved().logins[gateway.url];
  expect(second?.key).not.toBe(first.key);
  expect(await keysOf()).toMatchObject({ [first.key]: "revoked", [second?.key ?? ""]: "active" });
}, 120_000);

test("a declined login keeps the previous one", async () => {
  const before = saved();
  const ran = await login("decline");
  expect([ran.code, JSON.parse(ran.out)]).toEqual([
    1,
    { error: { message: "The login was declined.", next: expect.any(String) as string } },
  ]);
  expect(saved()).toEqual(before);
}, 120_000);

test("a login that nobody decides about expires", async () => {
  const waiting = await terminal.login(gateway.url);
  clock.advance(601_000);
  const { code, out } = await waiting.ended;
  expect([code, out]).toEqual([1, expect.stringContaining("ten minutes")]);
}, 120_000);

test("a gateway that restarts in between is polled again", async () => {
  const waiting = await terminal.login(gateway.url);
  const { id: device } = await root.app("POST /operator/devices/find", {}, { user_code: waiting.userCode });
  await root.app("POST /operator/devices/{device}/approve", { device });
  await gateway.restart();
  expect((await waiting.ended).code).toBe(0);
}, 120_000);

test("with two logins a gateway has to be named", async () => {
  const kept = readFileSync(terminal.credentials, "utf8");
  const { logins } = saved();
  const other = { "http://127.0.0.1:1": logins[gateway.url] };
  writeFileSync(terminal.credentials, JSON.stringify({ logins: { ...logins, ...other } }));
  for (const command of [["org", "list"], ["logout"]]) {
    const { code, err } = await terminal.run(command);
    expect([code, err]).toEqual([1, expect.stringContaining("several gateways")]);
  }
  expect(await terminal.run(["org", "list", "--url", gateway.url])).toMatchObject({ code: 0 });
  // A login stays while its gateway is away, unless --forget is given.
  expect((await terminal.run(["logout", "--url", "http://127.0.0.1:1"])).err).toContain("--forget");
  const forgotten = await terminal.run(["logout", "--url", "http://127.0.0.1:1", "--forget", "--json"]);
  expect(JSON.parse(forgotten.out)).toMatchObject({ revoked: false });
  expect(saved()).toEqual(JSON.parse(kept) as Saved);
});

test("a file that others can read is not used", async () => {
  chmodSync(terminal.credentials, 0o644);
  const { code, err } = await terminal.run(["org", "list"]);
  expect([code, err]).toEqual([1, expect.stringContaining("chmod 600")]);
  chmodSync(terminal.credentials, 0o600);
});

test("an expired login says so", async () => {
  const kept = readFileSync(terminal.credentials, "utf8");
  const login = { ...saved().logins[gateway.url], expires_at: "2020-01-01T00:00:00.000Z" };
  writeFileSync(terminal.credentials, JSON.stringify({ logins: { [gateway.url]: login } }));
  const { code, err } = await terminal.run(["org", "list"]);
  expect([code, err]).toEqual([1, expect.stringContaining(`./tollgate login --url ${gateway.url}`)]);
  writeFileSync(terminal.credentials, kept);
});

test("logging out revokes the key and forgets it; a second time there is nothing to end", async () => {
  const { key, token } = saved().logins[gateway.url] ?? first;
  const ran = await terminal.run(["logout", "--json"]);
  expect(JSON.parse(ran.out)).toEqual({ gateway: gateway.url, key, revoked: true });
  expect((await keysOf())[key]).toBe("revoked");
  expect(existsSync(terminal.credentials) && readFileSync(terminal.credentials, "utf8")).not.toContain(token);
  expect((await terminal.run(["logout"])).code).toBe(1);
});

test("logging out also forgets a key that was revoked on the People page", async () => {
  await login();
  const { key } = saved().logins[gateway.url] ?? first;
  await root.app("POST /operator/management-keys/{key}/revoke", { key });
  expect((await terminal.run(["org", "list"])).err).toContain("./tollgate login");
  expect(await terminal.run(["logout"])).toMatchObject({ code: 0 });
  expect(saved()).toEqual({ logins: {} });
}, 120_000);
