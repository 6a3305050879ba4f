// The second factor over HTTP: each change of it leaves one line in the audit log, and setting it up is no sign-in.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Browser, firstOperator, PASSWORD } from "../support/browser.ts";
import { startGateway, type TestGateway } from "../support/gateway.ts";
import { codeOf, nextCodeOf } from "../support/totp.ts";
import { auditLog } from "../support/audit-log.ts";

let gateway: TestGateway;
let root: Browser;

beforeAll(async () => {
  gateway = await startGateway({ configure: (config) => (config.signIn.perMinute = 1000) });
  root = await firstOperator(gateway);
});
afterAll(() => gateway.stop());

/** What was added to the audit log while this ran, oldest first. */
async function noted(work: () => Promise<unknown>): Promise<string[]> {
  const before = (await auditLog(gateway.ledger, { limit: 1000 })).length;
  await work();
  const lines = await auditLog(gateway.ledger, { limit: 1000 });
  return lines
    .slice(0, lines.length - before)
    .map(({ action }) => action)
    .reverse();
}

const change = <T = Record<string, unknown>>(path: string, body: object) =>
  root.send<T>("POST", `/auth/two-factor/${path}`, body);

test("turning it on, new backup codes and turning it off are one line each", async () => {
  const made = await change<{ totpURI: string }>("enable", { password: PASSWORD });
  const code = codeOf(made.json.totpURI);
  const wrong = code === "000000" ? "000001" : "000000";
  expect(await noted(() => change("verify-totp", { code: wrong }))).toEqual([]);
  expect(await noted(() => change("verify-totp", { code }))).toEqual(["person.second_factor_on"]);
  expect(await noted(() => change("generate-backup-codes", { password: PASSWORD }))).toEqual([
    "person.backup_codes",
  ]);
  expect(await noted(() => change("disable", { password: "wrong horse battery" }))).toEqual([]);
  expect(await noted(() => change("disable", { password: PASSWORD }))).toEqual(["person.second_factor_off"]);
  expect((await root.app("GET /session")).person?.two_factor).toBe(false);
});

test("a sign-in with it is recorded when the code was right, not when the password was", async () => {
  const made = await change<{ totpURI: string }>("enable", { password: PASSWORD });
  await change("verify-totp", { code: codeOf(made.json.totpURI) });
  const browser = new Browser(gateway.url);
  const credentials = { email: "root@example.com", password: PASSWORD };
  expect(await noted(() => browser.send("POST", "/auth/sign-in/email", credentials))).toEqual([]);
  expect((await browser.app("GET /session")).person).toBeNull();
  const code = nextCodeOf(made.json.totpURI);
  const verify = () => browser.send("POST", "/auth/two-factor/verify-totp", { code });
  expect(await noted(verify)).toEqual(["person.sign_in"]);
});
