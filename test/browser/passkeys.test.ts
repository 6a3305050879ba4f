// Passkeys, with an authenticator simulated by Chromium: added on the settings page, used to sign in, removed.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { CDPSession, Locator } from "playwright-core";
import { path } from "../../dashboard/path-builder.ts";
import { passkeyTexts as words } from "../../dashboard/pages/settings/texts.ts";
import { shellTexts, stateTexts } from "../../dashboard/components/texts.ts";
import { signInTexts } from "../../dashboard/pages/sign-in/texts.ts";
import { ageSessions } from "../support/aged-sessions.ts";
import { newMember } from "../support/browser.ts";
import { type Dashboard, startDashboard, type Visitor } from "./dashboard.ts";
import { inspect } from "./inspect.ts";
import { auditLog } from "../support/audit-log.ts";

const EMAIL = "vera@example.com";
const REFUSED = /the server responded with a status of (?:400|401)/;

let dashboard: Dashboard;
let visitor: Visitor;
let device: CDPSession;
let authenticatorId: string;
let org: string;

beforeAll(async () => {
  dashboard = await startDashboard({ host: "localhost" });
  const { root, gateway } = dashboard;
  org = (await root.app("POST /operator/organizations", {}, { name: "Acme Robotics" })).id;
  await newMember(root, gateway, { org, role: "viewer", email: EMAIL });
  visitor = await dashboard.visitor(EMAIL);
  device = await visitor.page.context().newCDPSession(visitor.page);
  await device.send("WebAuthn.enable");
  ({ authenticatorId } = await device.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
    },
  }));
});
afterAll(() => dashboard.stop());

const button = (name: string): Locator => visitor.page.getByRole("button", { name, exact: true });
const row = (name: string): Locator =>
  visitor.page.getByRole("region", { name: words.title }).getByRole("row").filter({ hasText: name });

async function add(name: string): Promise<void> {
  await visitor.page.getByRole("textbox", { name: words.name, exact: true }).fill(name);
  await button(words.add).click();
}

async function signOut(): Promise<void> {
  await button(shellTexts.account).click();
  await visitor.page.getByRole("menuitem", { name: shellTexts.signOut }).click();
  await button(signInTexts.passkey).waitFor();
}

test("a passkey is added under its name, and the device knows whose it is", async () => {
  await visitor.open(path.organization(org, "settings"));
  await add("work laptop");
  await row("work laptop").waitFor();
  await row("work laptop").getByText(/UTC$/).waitFor();
  const { credentials } = await device.send("WebAuthn.getCredentials", { authenticatorId });
  expect(credentials).toMatchObject([{ rpId: "localhost", isResidentCredential: true, userName: EMAIL }]);
  await inspect(visitor, "settings with a passkey");
});

test("a device that already has one is told so", async () => {
  await add("the same laptop");
  await visitor.page.getByText("This device already has one of your passkeys.").waitFor();
  await inspect(visitor, "a passkey that is there already");
});

test("it signs in without address and password, and the session's token is only in the cookie", async () => {
  await signOut();
  await inspect(visitor, "the sign-in page with passkeys");
  const [answer] = await Promise.all([
    visitor.page.waitForResponse((response) => response.url().endsWith("/verify-authentication")),
    button(signInTexts.passkey).click(),
  ]);
  expect([answer.status(), await answer.text()]).toEqual([
    200,
    expect.not.stringContaining("token") as string,
  ]);
  await visitor.page.waitForURL((url) => url.pathname === path.organization(org, "overview"));
});

test("a touch without user verification signs nobody in, because a passkey also counts as the second factor", async () => {
  await device.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified: false });
  await signOut();
  const answer = await visitor.page.evaluate<{ status: number; error: { message: string } }>(`(async () => {
    const options = await (await fetch("/auth/passkey/generate-authenticate-options")).json();
    const asked = { ...options, userVerification: "discouraged" };
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(asked);
    const response = (await navigator.credentials.get({ publicKey })).toJSON();
    const answer = await fetch("/auth/passkey/verify-authentication", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ response }),
    });
    return { status: answer.status, ...(await answer.json()) };
  })()`);
  expect(answer).toMatchObject({ status: 400, error: { message: expect.stringContaining("PIN") as string } });
  await device.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified: true });
  visitor.complained({ about: REFUSED });
  await button(signInTexts.passkey).click();
  await visitor.page.waitForURL((url) => url.pathname === path.organization(org, "overview"));
});

test("adding a passkey needs a recent sign-in", async () => {
  await ageSessions(dashboard.gateway, 26 * 3_600_000);
  await visitor.open(path.organization(org, "settings"));
  await add("another device");
  await visitor.page.getByText(stateTexts.signInAgain, { exact: true }).waitFor();
  await inspect(visitor, "a passkey asks for a newer sign-in", { about: /status of 40[13]/ });
});

test("a removed passkey signs nobody in", async () => {
  await visitor.open(path.organization(org, "settings"));
  await row("work laptop")
    .getByRole("button", { name: words.removeTitle("work laptop") })
    .click();
  const dialog = visitor.page.getByRole("dialog", { name: words.removeTitle("work laptop") });
  await dialog.waitFor();
  await inspect(visitor, "removing a passkey");
  await dialog.getByRole("button", { name: words.removeTitle("work laptop"), exact: true }).click();
  await row("work laptop").waitFor({ state: "detached" });
  await signOut();
  await button(signInTexts.passkey).click();
  await visitor.page.getByRole("alert").waitFor();
  expect(new URL(visitor.page.url()).pathname).toBe(path.signIn());
  await inspect(visitor, "a refused passkey", { about: REFUSED });
});

test("both are in the audit log, and nothing that was refused", async () => {
  const lines = await auditLog(dashboard.gateway.ledger, { limit: 100 });
  const actions = lines.map(({ action }) => action).filter((action) => action.startsWith("person.passkey"));
  expect(actions.reverse()).toEqual(["person.passkey_add", "person.passkey_remove"]);
});

test("a passkey prompt that nobody answers is reported", async () => {
  await device.send("WebAuthn.clearCredentials", { authenticatorId });
  await device.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified: false });
  await visitor.open(path.signIn());
  await button(signInTexts.passkey).click();
  await visitor.page.getByText(/^No passkey was used/).waitFor();
});
