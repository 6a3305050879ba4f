// Gateways on one database whose own clocks are half a day apart: all of them measure the age of a sign-in by the
// database's clock, whichever let the person in.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { firstRunToken } from "../../src/people/first-run.ts";
import { sessionSecret } from "../../src/people/store.ts";
import { readDataKey } from "../../src/store/data-key.ts";
import { Browser, PASSWORD } from "../support/browser.ts";
import type { ProcessGateway } from "../support/process-gateway.ts";
import { type SkewedGateways, startSkewed } from "../support/skewed-gateways.ts";
import { HOUR_MS } from "../support/wait.ts";

const ORIGIN = "http://localhost:8080";
const EMAIL = "root@example.com";
const SKEW_MS = 13 * HOUR_MS;
let gateways: SkewedGateways;
let right: ProcessGateway;
let behind: ProcessGateway;
let ahead: ProcessGateway;
let admin: SkewedGateways["admin"];
beforeAll(async () => {
  gateways = await startSkewed(SKEW_MS, `public_url: ${ORIGIN}`);
  ({ right, behind, ahead, admin } = gateways);
  const secret = sessionSecret(readDataKey(join(right.folder, "data"), "existing"));
  const account = { name: "Root", email: EMAIL, password: PASSWORD };
  await new Browser(right.url, ORIGIN).app(
    "POST /welcome",
    {},
    { token: firstRunToken(secret, Date.now()), ...account },
  );
}, 120_000);
afterAll(() => gateways.stop());

async function signedInAt(gateway: ProcessGateway): Promise<Browser> {
  const browser = new Browser(gateway.url, ORIGIN);
  const answer = await browser.send("POST", "/auth/sign-in/email", { email: EMAIL, password: PASSWORD });
  expect(answer.status).toBe(200);
  return browser;
}

/** The answers to a change that needs a recent sign-in, and to the start of adding a passkey. */
async function delicate(browser: Browser): Promise<(number | string)[]> {
  const changed = await browser.try("POST /operator/organizations", {}, { name: "Lab" });
  const passkey = await browser.send<{ error?: { code: string } }>(
    "GET",
    "/auth/passkey/generate-register-options",
  );
  return [changed, passkey].map(({ status, json }) => json.error?.code ?? status);
}

const OLD = ["sign_in_again", "sign_in_again"];

test("a person who has just signed in, at any gateway, may make changes at each of them", async () => {
  for (const one of [right, behind, ahead]) {
    const person = await signedInAt(one);
    for (const other of [right, behind, ahead])
      expect(await delicate(person.at(other.url))).toEqual([201, 200]);
  }
}, 120_000);

test("a sign-in of more than twelve hours ago is too old at each of them", async () => {
  for (const one of [right, behind, ahead]) {
    const person = await signedInAt(one);
    await admin.query(`UPDATE people.session SET "createdAt" = "createdAt" - interval '12 hours 1 minute'`);
    for (const other of [right, behind, ahead]) expect(await delicate(person.at(other.url))).toEqual(OLD);
  }
}, 120_000);
