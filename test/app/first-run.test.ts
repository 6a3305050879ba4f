// The start of a gateway without an owner, its restart, and second factors.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../src/config/config.ts";
import { createLog } from "../../src/lib/log.ts";
import { commandOn } from "../../src/config/data-dir.ts";
import { banner } from "../../src/main/banner.ts";
import { type Running, start } from "../../src/main/gateway.ts";
import { Browser, PASSWORD, tokenOf } from "../support/browser.ts";
import { codeOf, nextCodeOf } from "../support/totp.ts";
import { edit } from "../support/versions.ts";
import { auditLog } from "../support/audit-log.ts";

const dataDir = mkdtempSync(join(tmpdir(), "tollgate-first-run-"));
let gateway: Running;
let browser: Browser;

/** The same port each time: cookies and Origin belong to it. */
async function run(port = "0"): Promise<void> {
  const config = loadConfig({ env: {}, cwd: dataDir, flags: { port, dataDir } });
  gateway = await start(config, { log: createLog("silent") });
}

beforeAll(() => run());
afterAll(async () => {
  await gateway.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

test("the start banner shows the dashboard and the link, which makes an owner of the demo organization", async () => {
  const text = banner({
    baseUrl: `${gateway.url}/v1`,
    dashboard: { url: gateway.url, signInLink: gateway.signInLink },
    sellsNothing: false,
    demo: null,
    program: "./tollgate",
    command: commandOn(dataDir, dataDir),
  });
  expect(text).toContain(`${gateway.url}/welcome#token=`);
  expect(text).toContain(`Operate it with ./tollgate --data-dir ${dataDir} (see`);
  expect(commandOn(join(dataDir, "data"), dataDir)).toBe("./tollgate");
  browser = new Browser(gateway.url);
  const { person } = await browser.app(
    "POST /welcome",
    {},
    { token: tokenOf(gateway.signInLink), name: "Ada", email: "Ada@Example.com", password: PASSWORD },
  );
  expect(person).toMatchObject({ email: "ada@example.com", operator: true });
  expect(person?.memberships).toEqual([expect.objectContaining({ name: "Demo", role: "owner" })]);
});

test("a session survives a restart; there is no second first account", async () => {
  const { port } = new URL(gateway.url);
  await gateway.stop();
  await run(port);
  expect(gateway.signInLink).toBeNull();
  expect((await browser.app("GET /session")).person?.name).toBe("Ada");
});

test("the file of people is closed to others", () => {
  expect(statSync(join(dataDir, "people.sqlite")).mode & 0o077).toBe(0);
});

test("a second factor is set up, asked for at sign-in, and an organization can require it", async () => {
  const org = (await browser.app("GET /session")).person?.memberships[0]?.org ?? "";
  await edit(browser, "PATCH /orgs/{org}/settings", { org }, { require_two_factor: true });
  const stopped = await browser.try("GET /orgs/{org}/overview", { org });
  expect([stopped.status, stopped.json.error.code]).toEqual([403, "two_factor_required"]);
  const enabled = await browser.send<{ totpURI: string; backupCodes: string[] }>(
    "POST",
    "/auth/two-factor/enable",
    { password: PASSWORD },
  );
  expect(enabled.status).toBe(200);
  expect(enabled.headers.get("cache-control")).toBe("no-store");
  const verified = await browser.send("POST", "/auth/two-factor/verify-totp", {
    code: codeOf(enabled.json.totpURI),
  });
  expect(verified.status).toBe(200);
  await browser.app("GET /orgs/{org}/overview", { org });

  const fresh = new Browser(gateway.url);
  const half = await fresh.send<{ twoFactorRedirect?: boolean }>("POST", "/auth/sign-in/email", {
    email: "ada@example.com",
    password: PASSWORD,
  });
  expect(half.json.twoFactorRedirect).toBe(true);
  expect((await fresh.app("GET /session")).person).toBeNull();
  const wrong = await fresh.send<{ error: { code: string } }>("POST", "/auth/two-factor/verify-totp", {
    code: "000000",
  });
  expect(wrong.status).toBe(401);
  await fresh.send("POST", "/auth/two-factor/verify-totp", { code: nextCodeOf(enabled.json.totpURI) });
  expect((await fresh.app("GET /session")).person).toMatchObject({ name: "Ada", two_factor: true });
});

test("an operator's link sets a new password, once, and removes a lost second factor", async () => {
  const { id = "" } = (await browser.app("GET /session")).person ?? {};
  const made = await browser.app(
    "POST /operator/people/{person}/reset",
    { person: id },
    { two_factor: true },
  );
  const token = tokenOf(made.link);
  const password = "another horse entirely";
  await new Browser(gateway.url).app("POST /reset", {}, { token, password });
  expect((await browser.try("GET /profile")).status).toBe(401);
  const again = await new Browser(gateway.url).try("POST /reset", {}, { token, password });
  expect([again.status, again.json.error.code]).toEqual([410, "link_not_valid"]);
  const signedIn = await browser.send("POST", "/auth/sign-in/email", { email: "ada@example.com", password });
  expect(signedIn.status).toBe(200);
  expect((await browser.app("GET /session")).person?.two_factor).toBe(false);
});

test("the holder of the management key makes such a link too, by address", async () => {
  const { token } = (await Bun.file(join(dataDir, "operator.json")).json()) as { token: string };
  const admin = async (method: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
    return (await (await fetch(`${gateway.url}/admin/v1${path}`, init)).json()) as Record<string, unknown>;
  };
  const people = await admin("GET", "/people");
  expect(people["data"]).toEqual([expect.objectContaining({ email: "ada@example.com", operator: true })]);
  const made = await admin("POST", "/people/reset", { person: "Ada@example.com" });
  const body = { token: tokenOf(String(made["link"])), password: PASSWORD };
  await new Browser(gateway.url).app("POST /reset", {}, body);
  expect((await browser.try("GET /profile")).status).toBe(401);
  await browser.send("POST", "/auth/sign-in/email", { email: "ada@example.com", password: PASSWORD });
  expect(await admin("POST", "/people/reset", { person: "nobody@example.com" })).toMatchObject({
    error: { code: "not_found" },
  });
});

test("an old sign-in can still read but not change money, keys or people; an expired session counts as none", async () => {
  const sessions = new Database(join(dataDir, "people.sqlite"));
  const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();
  sessions.run("UPDATE session SET createdAt = ?1", [hoursAgo(13)]);
  const create = await browser.try("POST /operator/organizations", {}, { name: "late" });
  expect([create.status, create.json.error.code]).toEqual([403, "sign_in_again"]);
  const passkey = await browser.send("GET", "/auth/passkey/generate-register-options");
  expect([passkey.status, passkey.json["error"]]).toMatchObject([
    403,
    { code: "sign_in_again", type: "permission_error" },
  ]);
  await browser.app("GET /operator/organizations");
  sessions.run("UPDATE session SET expiresAt = ?1", [hoursAgo(1)]);
  expect((await browser.try("GET /operator/organizations")).status).toBe(401);
  sessions.close();
  await browser.send("POST", "/auth/sign-in/email", { email: "ada@example.com", password: PASSWORD });
});

test("sign-ins, sign-outs and settings are in the operator's audit log", async () => {
  await browser.send("POST", "/auth/sign-out");
  const again = new Browser(gateway.url);
  const refused = await again.try("GET /operator/audit");
  expect(refused.status).toBe(401);
  const lines = await auditLog(gateway.ledger, { limit: 100 });
  const actions = new Set(lines.map(({ action }) => action));
  for (const action of [
    "person.first",
    "person.sign_in",
    "person.sign_out",
    "person.reset",
    "organization.settings",
  ])
    expect(actions).toContain(action);
});
