// The second factor from set-up to the lost phone: scanned from the screen, asked for at sign-in, replaced by a
// backup code that works once.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import type { Locator } from "playwright-core";
import decodeQR from "qr/decode.js";
import { path } from "../../dashboard/path-builder.ts";
import {
  pageNames,
  secondFactorTexts,
  secretTexts,
  shellTexts,
  stateTexts,
} from "../../dashboard/components/texts.ts";
import { settingsTexts as words } from "../../dashboard/pages/settings/texts.ts";
import { signInTexts } from "../../dashboard/pages/sign-in/texts.ts";
import { newMember, PASSWORD } from "../support/browser.ts";
import { codeOf, nextCodeOf } from "../support/totp.ts";
import { edit } from "../support/versions.ts";
import { type Dashboard, startDashboard, type Visitor } from "./dashboard.ts";
import { inspect } from "./inspect.ts";

const EMAIL = "vera@example.com";
/** A browser reports each refusal as an error. */
const REFUSED = /the server responded with a status of (?:401|403)/;

let dashboard: Dashboard;
let visitor: Visitor;
let org: string;
/** What the camera read. */
let scanned: string;
let backupCodes: string[];

beforeAll(async () => {
  dashboard = await startDashboard();
  const { root, gateway } = dashboard;
  org = (await root.app("POST /operator/organizations", {}, { name: "Acme Robotics" })).id;
  const owner = await newMember(root, gateway, { org, role: "owner", email: "olga@example.com" });
  await newMember(root, gateway, { org, role: "viewer", email: EMAIL });
  await edit(owner, "PATCH /orgs/{org}/settings", { org }, { require_two_factor: true });
  visitor = await dashboard.visitor(EMAIL);
});
afterAll(() => dashboard.stop());

const button = (name: string): Locator => visitor.page.getByRole("button", { name, exact: true });
const field = (label: string): Locator => visitor.page.getByLabel(label, { exact: true });

/** Reads a picture of the code, as a phone's camera would. */
async function scan(code: Locator): Promise<string> {
  const picture = (await code.screenshot()).toString("base64");
  const blank = await visitor.page.context().newPage();
  const { width, height, data } = await blank.evaluate<{ width: number; height: number; data: number[] }>(
    `new Promise((resolve) => {
      const image = new Image();
      image.onload = () => {
        const { width, height } = image;
        const context = Object.assign(document.createElement("canvas"), { width, height }).getContext("2d");
        context.drawImage(image, 0, 0);
        resolve({ width, height, data: [...context.getImageData(0, 0, width, height).data] });
      };
      image.src = "data:image/png;base64,${picture}";
    })`,
  );
  await blank.close();
  return decodeQR({ width, height, data: Uint8Array.from(data) });
}

async function signInWith(type: () => Promise<void>): Promise<void> {
  await visitor.open(path.signIn());
  // Signing out cancels the old page's pending requests; a new page has none of them.
  expect(visitor.complained({ about: REFUSED })).toEqual([]);
  await field(signInTexts.email).fill(EMAIL);
  await field(signInTexts.password).fill(PASSWORD);
  await button(signInTexts.submit).click();
  await field(secondFactorTexts.code).waitFor();
  await type();
  await button(secondFactorTexts.verify).click();
}

async function signOut(): Promise<void> {
  await button(shellTexts.account).click();
  await visitor.page.getByRole("menuitem", { name: shellTexts.signOut }).click();
  await visitor.page.waitForURL((url) => url.pathname === path.signIn());
}

const signedIn = (): Promise<void> =>
  visitor.page.waitForURL((url) => url.pathname.startsWith(path.organization(org, "overview")));

test("the page that requires it links to it; the code on the screen can be scanned in light and dark, and matches the secret beside it", async () => {
  await visitor.open(path.organization(org, "models"));
  const alert = visitor.page.getByRole("alert");
  await alert.getByText(stateTexts.secondFactorNeeded).waitFor();
  await inspect(visitor, "an organization that asks for a second factor", { about: REFUSED });
  await alert.getByRole("link", { name: stateTexts.secondFactorAction }).click();
  await visitor.page.getByRole("heading", { level: 1, name: pageNames.settings }).waitFor();
  await field(words.passwordForThis).fill(PASSWORD);
  await button(words.turnOn).click();
  const code = visitor.page.getByRole("img", { name: words.qr });
  await code.waitFor();
  for (const scheme of ["light", "dark"] as const) {
    await visitor.scheme(scheme);
    scanned = await scan(code);
    expect(scanned).toStartWith("otpauth://totp/Tollgate:vera%40example.com?");
  }
  const secret = new URL(scanned).searchParams.get("secret") ?? "";
  expect(secret).toMatch(/^[A-Z2-7]{32,}$/);
  await visitor.page.getByText(secret, { exact: true }).waitFor();
  // The organization's own settings stay refused until the factor is on.
  await inspect(visitor, "setting up the second factor", { about: REFUSED });
});

test("backup codes can be downloaded, and have to be stored before the factor is on", async () => {
  const [file] = await Promise.all([
    visitor.page.waitForEvent("download"),
    button(words.downloadCodes).click(),
  ]);
  expect(file.suggestedFilename()).toBe("tollgate-backup-codes.txt");
  backupCodes = readFileSync(await file.path(), "utf8")
    .trim()
    .split("\n");
  expect(backupCodes).toHaveLength(10);
  await visitor.page
    .getByRole("group", { name: words.backupCodesLabel })
    .getByText(backupCodes[9] ?? "?")
    .waitFor();
  await field(secondFactorTexts.code).fill(codeOf(scanned));
  expect(await button(secondFactorTexts.verify).isDisabled()).toBe(true);
  await field(words.stored).check();
  await button(secondFactorTexts.verify).click();
  await visitor.page.getByText(words.twoFactorOn).waitFor();
});

test("an organization that requires it shows itself at once", async () => {
  await field(words.name).waitFor();
  await inspect(visitor, "settings with a second factor");
});

test("signing in asks for the code, and a wrong one is refused", async () => {
  await signOut();
  await signInWith(async () => {
    await inspect(visitor, "the code form");
    await visitor.page.keyboard.insertText("000 000");
  });
  await visitor.page.getByRole("alert").waitFor();
  await inspect(visitor, "a refused code", { about: REFUSED });
  await field(secondFactorTexts.code).fill(nextCodeOf(scanned));
  await button(secondFactorTexts.verify).click();
  await signedIn();
});

test("a backup code signs in without the phone, once", async () => {
  const withBackupCode = (code: string) =>
    signInWith(async () => {
      await button(signInTexts.useBackup).click();
      await inspect(visitor, "the backup code form");
      // Without a click: the form focuses the field.
      await visitor.page.keyboard.insertText(` ${code} `);
    });
  await signOut();
  await withBackupCode(backupCodes[0] ?? "");
  await signedIn();
  await signOut();
  await withBackupCode(backupCodes[0] ?? "");
  await visitor.page.getByRole("alert").waitFor();
  expect(new URL(visitor.page.url()).pathname).toBe(path.signIn());
  await inspect(visitor, "a refused backup code", { about: REFUSED });
  await field(signInTexts.backupCode).fill(backupCodes[1] ?? "");
  await button(secondFactorTexts.verify).click();
  await signedIn();
});

test("new backup codes replace the old ones", async () => {
  await visitor.open(path.organization(org, "settings"));
  await field(words.passwordForThis).fill(PASSWORD);
  await button(words.newBackupCodes).click();
  const codes = visitor.page.getByRole("group", { name: words.backupCodesLabel });
  const [fresh = ""] = (await codes.innerText()).trim().split("\n");
  expect(backupCodes).not.toContain(fresh);
  await inspect(visitor, "new backup codes");
  await field(words.stored).check();
  await button(secretTexts.done).click();
  await signOut();
  await signInWith(async () => {
    await button(signInTexts.useBackup).click();
    await field(signInTexts.backupCode).fill(backupCodes[2] ?? "");
  });
  await visitor.page.getByRole("alert").waitFor();
  await field(signInTexts.backupCode).fill(fresh);
  await button(secondFactorTexts.verify).click();
  await signedIn();
});

test("the second factor is removed with the password", async () => {
  await visitor.open(path.organization(org, "settings"));
  await field(words.passwordForThis).fill(PASSWORD);
  await button(words.turnOff).click();
  await visitor.page.getByText(words.twoFactorOff).waitFor();
});
