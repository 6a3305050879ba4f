// Signing in on the way to a page: a stranger with a link, a person who signed out elsewhere, and one whose sign-in
// is too old for a change.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { path } from "../../dashboard/path-builder.ts";
import { dialogTexts, pageNames, shellTexts, stateTexts } from "../../dashboard/components/texts.ts";
import { settingsTexts } from "../../dashboard/pages/settings/texts.ts";
import { signInTexts } from "../../dashboard/pages/sign-in/texts.ts";
import { usageTexts } from "../../dashboard/pages/usage/texts.ts";
import { ageSessions } from "../support/aged-sessions.ts";
import { newMember, PASSWORD } from "../support/browser.ts";
import { type Dashboard, startDashboard } from "./dashboard.ts";
import { inspect } from "./inspect.ts";
import { signInBeside } from "./steps.ts";

const EMAIL = "vera@example.com";

let dashboard: Dashboard;
let org: string;

beforeAll(async () => {
  dashboard = await startDashboard();
  const { root, gateway } = dashboard;
  org = (await root.app("POST /operator/organizations", {}, { name: "Acme Robotics" })).id;
  await newMember(root, gateway, { org, role: "owner", email: EMAIL });
});
afterAll(() => dashboard.stop());

test("a stranger with a link signs in and gets where the link leads", async () => {
  const { page } = await dashboard.visitor();
  const address = `${path.organization(org, "models")}?tier=paid`;
  await page.goto(dashboard.gateway.url + address);
  await page.waitForURL((url) => url.pathname === path.signIn());
  await page.getByLabel(signInTexts.email).fill(EMAIL);
  await page.getByLabel(signInTexts.password, { exact: true }).fill(PASSWORD);
  await page.getByRole("button", { name: signInTexts.submit, exact: true }).click();
  await page.waitForURL((url) => url.pathname + url.search === address);
});

test("a stranger at the front page gets to the sign-in, a member of another organization is told so, and gets home", async () => {
  const stranger = await dashboard.visitor();
  await stranger.page.goto(`${dashboard.gateway.url}/`);
  await stranger.page.waitForURL((url) => url.pathname === path.signIn());
  const { page } = await dashboard.visitor(EMAIL);
  await page.goto(dashboard.gateway.url + path.organization("org_of_others", "keys"));
  await page.getByText(shellTexts.noMember).waitFor();
  await page.getByRole("link", { name: shellTexts.back }).click();
  await page.waitForURL((url) => url.pathname === path.organization(org, "overview"));
});

test("a person who has left while a page was open is told so at the next one, and no longer sees the organization's frame", async () => {
  const { root, gateway } = dashboard;
  const email = "leaving@example.com";
  const leaving = await newMember(root, gateway, { org, role: "developer", email });
  const visitor = await dashboard.visitor(email);
  await visitor.open(path.organization(org, "models"));
  await leaving.app("POST /orgs/{org}/leave", { org }, {});
  await visitor.page.getByRole("navigation").getByRole("link", { name: pageNames.activity }).click();
  await visitor.page.getByText(shellTexts.noMember).waitFor();
  await visitor.page.getByRole("navigation").waitFor({ state: "detached" });
});

test("a download refused because the session has ended leaves the page in place", async () => {
  const visitor = await dashboard.visitor(EMAIL);
  const { page } = visitor;
  await visitor.open(path.organization(org, "usage"));
  await page.context().clearCookies();
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: usageTexts.csv }).click(),
  ]);
  expect(await file.failure()).not.toBeNull();
  expect(new URL(page.url()).pathname).toBe(path.organization(org, "usage"));
  await page.getByRole("heading", { name: pageNames.usage }).waitFor();
});

test("a session that ended under an open page leads to the sign-in, and then the work continues", async () => {
  const visitor = await dashboard.visitor(EMAIL);
  const { page } = visitor;
  await visitor.open(path.organization(org, "settings"));
  await page.context().clearCookies();
  await page.getByRole("button", { name: settingsTexts.endOthers }).click();
  await page.getByRole("dialog").getByRole("button", { name: settingsTexts.endOthers }).click();
  const alert = page.getByRole("dialog").getByRole("alert");
  await alert.getByText(stateTexts.signedOut).waitFor();
  await signInBeside(visitor, EMAIL);
  await page.getByRole("dialog").getByRole("button", { name: settingsTexts.endOthers }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
});

test("a person sees where they are signed in, and signs out everywhere else", async () => {
  const elsewhere = await dashboard.visitor(EMAIL);
  const here = await dashboard.visitor(EMAIL);
  await here.open(path.organization(org, "settings"));
  const sessions = here.page.getByRole("region", { name: settingsTexts.sessions });
  await sessions
    .getByRole("row", { name: /^Chrome on Linux/ })
    .nth(1)
    .waitFor();
  await here.page.getByRole("button", { name: settingsTexts.endOthers }).click();
  const question = here.page.getByRole("dialog", { name: settingsTexts.endOthers });
  await question.waitFor();
  await inspect(here, "ending every other session");
  await question.getByRole("button", { name: settingsTexts.endOthers }).click();
  await sessions.getByRole("row").nth(2).waitFor({ state: "detached" });
  await sessions.getByRole("row", { name: settingsTexts.thisOne }).waitFor();
  await inspect(here, "one session");
  await elsewhere.page.goto(`${dashboard.gateway.url}${path.organization(org, "settings")}`);
  await elsewhere.page.waitForURL((url) => url.pathname === path.signIn());
});

test("a sensitive change asks for a recent sign-in, and then works with what was typed", async () => {
  const visitor = await dashboard.visitor(EMAIL);
  const { page } = visitor;
  await ageSessions(dashboard.gateway, 26 * 3_600_000);
  await visitor.open(path.organization(org, "settings"));
  await page.getByLabel(settingsTexts.name, { exact: true }).fill("Acme Machines");
  const save = page.getByRole("button", { name: dialogTexts.save }).first();
  await save.click();
  const alert = page.getByRole("alert");
  await alert.getByText(stateTexts.signInAgain).first().waitFor();
  await inspect(visitor, "a sign-in that is too old", { about: /status of 403/ });
  await signInBeside(visitor, EMAIL);
  expect(await page.getByLabel(settingsTexts.name, { exact: true }).inputValue()).toBe("Acme Machines");
  await save.click();
  await page.getByRole("banner").locator("input[value='Acme Machines']").waitFor();
});
