// Personal settings: how this browser shows times, and the account of a person who belongs to no organization.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { path } from "../../dashboard/path-builder.ts";
import { operatorPageNames, pageNames, shellTexts } from "../../dashboard/components/texts.ts";
import { passkeyTexts, settingsTexts as words } from "../../dashboard/pages/settings/texts.ts";
import { newMember, PASSWORD } from "../support/browser.ts";
import { type Dashboard, OPERATOR, startDashboard } from "./dashboard.ts";
import { inspect } from "./inspect.ts";

const EMAIL = "vera@example.com";

let dashboard: Dashboard;
let org: string;

beforeAll(async () => {
  dashboard = await startDashboard();
  const { root, gateway } = dashboard;
  org = (await root.app("POST /operator/organizations", {}, { name: "Acme Robotics" })).id;
  await newMember(root, gateway, { org, role: "viewer", email: EMAIL });
});
afterAll(() => dashboard.stop());

test("times are UTC until a person chooses their own zone, which this browser remembers", async () => {
  const visitor = await dashboard.visitor(EMAIL);
  const { page } = visitor;
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("Emulation.setTimezoneOverride", { timezoneId: "Asia/Kathmandu" });
  await visitor.open(path.organization(org, "settings"));
  const since = page.getByRole("region", { name: words.sessions }).locator("time").first();
  const clock = async () => /(\d\d:\d\d):\d\d (\S+)$/.exec(await since.innerText())?.slice(1) ?? [];
  const [utc = "", zone] = await clock();
  expect(zone).toBe("UTC");
  await page.getByText(words.timeDisplays.local, { exact: true }).click();
  await inspect(visitor, "settings with own times");
  const [local, own] = await clock();
  expect(own).toBe("GMT+5:45");
  expect(minutesOf(local ?? "")).toBe((minutesOf(utc) + 345) % 1440);
  const hovered = await since.getAttribute("title");
  expect(hovered).toContain(`${utc}:`);
  expect(hovered).toEndWith(` · ${await since.getAttribute("datetime")}`); // as it is stored
  await page.reload();
  await visitor.settled();
  expect(await clock()).toEqual([local ?? "", "GMT+5:45"]);
});

function minutesOf(clock: string): number {
  const [hours = Number.NaN, minutes = Number.NaN] = clock.split(":").map(Number);
  return hours * 60 + minutes;
}

test("an operator of no organization opens their account from the menu and changes the password there", async () => {
  const next = "a battery of correct horses";
  const visitor = await dashboard.visitor(OPERATOR);
  const { page } = visitor;
  await visitor.open(path.operator("health"));
  await page.getByRole("button", { name: shellTexts.account }).click();
  await page.getByRole("menuitem", { name: pageNames.settings }).click();
  await page.waitForURL((url) => url.pathname === path.operator("account"));
  for (const part of [words.secondFactor, passkeyTexts.title, words.sessions, words.display])
    await page.getByRole("heading", { level: 2, name: part, exact: true }).waitFor();
  await inspect(visitor, "the operator's own account");
  await page.getByLabel(words.currentPassword, { exact: true }).fill(PASSWORD);
  await page.getByLabel(words.newPassword, { exact: true }).fill(next);
  await page.getByRole("button", { name: words.changePassword }).click();
  await page.getByText(words.changed).waitFor();
  expect((await dashboard.root.try("GET /profile")).status).toBe(401);
  await visitor.leave();
  const again = await dashboard.visitor();
  await again.signIn(OPERATOR, next);
  await again.page.getByRole("heading", { level: 1, name: operatorPageNames.home }).waitFor();
  await again.leave();
});
