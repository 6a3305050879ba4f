// Who operates a gateway and with which keys: a second operator is invited and removed, and a secret that is shown
// once stays on the screen until the person confirms that it is stored.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Locator } from "playwright-core";
import { path } from "../../dashboard/path-builder.ts";
import {
  accountFormTexts,
  dialogTexts,
  operatorPageNames,
  secretTexts,
} from "../../dashboard/components/texts.ts";
import { alertsTexts as alerts } from "../../dashboard/pages/alerts/texts.ts";
import { invitationTexts } from "../../dashboard/pages/invitation/texts.ts";
import { operatorPeopleTexts as words } from "../../dashboard/pages/operator/people/texts.ts";
import { newMember, PASSWORD } from "../support/browser.ts";
import { reads, waitFor } from "../support/wait.ts";
import { type Dashboard, OPERATOR, startDashboard, type Visitor } from "./dashboard.ts";
import { inspect } from "./inspect.ts";
import { rowsOf } from "./steps.ts";

const SECOND = "ada@example.com";
const OWNER = "olga@example.com";

let dashboard: Dashboard;
let root: Visitor;
let org: string;

beforeAll(async () => {
  dashboard = await startDashboard({ configure: (config) => (config.alerts.privateTargets = true) });
  org = (await dashboard.root.app("POST /operator/organizations", {}, { name: "Acme" })).id;
  await newMember(dashboard.root, dashboard.gateway, { org, role: "owner", email: OWNER });
  root = await dashboard.visitor(OPERATOR);
});
afterAll(() => dashboard.stop());

const dialog = ({ page }: Visitor): Locator => page.getByRole("dialog");
const press = (visitor: Visitor, name: string): Promise<void> =>
  dialog(visitor).getByRole("button", { name, exact: true }).click();
const rowOf = (email: string): Locator => rowsOf(root, operatorPageNames.people).filter({ hasText: email });
const invitationOf = (email: string): Locator => rowsOf(root, words.invitations).filter({ hasText: email });
const inRow = (row: Locator, name: string): Locator => row.getByRole("button", { name, exact: true });
const audited = async (action: string): Promise<number> =>
  (await dashboard.root.app("GET /operator/audit", {}, undefined, `?action=${action}`)).data.length;

describe("operators", () => {
  let ada: Visitor;

  test("one invites a second one, who comes in by the link and sees all organizations", async () => {
    await root.open(path.operator("people"));
    await root.page.getByRole("button", { name: words.invite }).click();
    await dialog(root).getByLabel(words.email, { exact: true }).fill(SECOND);
    await inspect(root, "the invitation of an operator");
    await press(root, words.invite);
    const link = await dialog(root)
      .getByText(/#token=/)
      .innerText();
    await press(root, secretTexts.done);
    await inRow(invitationOf(SECOND), words.newLink).click();
    await press(root, words.newLink);
    const newer = await dialog(root)
      .getByText(/#token=/)
      .innerText();
    expect(newer).not.toBe(link);
    await press(root, secretTexts.done);

    ada = await dashboard.visitor();
    await ada.page.goto(newer);
    await ada.page.getByLabel(accountFormTexts.name).fill("Ada");
    await ada.page.getByLabel(accountFormTexts.password, { exact: true }).fill(PASSWORD);
    await ada.page.getByRole("button", { name: invitationTexts.accept }).click();
    await ada.page.getByRole("heading", { level: 1, name: operatorPageNames.home }).waitFor();
    await ada.open(path.operator());
    await ada.page.getByRole("link", { name: "Acme", exact: true }).waitFor();
    expect(await audited("operator.invite")).toBe(2);
    await root.open(path.operator("people"));
    await root.page.getByText(words.noInvitations).waitFor();
  });

  test("an invitation is withdrawn", async () => {
    await dashboard.root.app("POST /operator/people", {}, { email: "late@example.com" });
    await root.open(path.operator("people"));
    expect(await invitationOf("late@example.com").innerText()).toContain("Root");
    await inspect(root, "open invitations of operators");
    await inRow(invitationOf("late@example.com"), words.withdraw).click();
    await inspect(root, "taking an invitation back");
    await press(root, words.withdraw);
    await root.page.getByText(words.noInvitations).waitFor();
    expect(await audited("operator.uninvite")).toBe(1);
  });

  test("a removed operator is refused at the next click; nobody can remove themselves", async () => {
    await root.open(path.operator("people"));
    await inRow(rowOf(OPERATOR), words.reset).waitFor();
    expect(await inRow(rowOf(OPERATOR), words.remove).count()).toBe(0);
    expect(await inRow(rowOf(OWNER), words.remove).count()).toBe(0);
    await inRow(rowOf(SECOND), words.remove).click();
    const act = dialog(root).getByRole("button", { name: words.removeAction(SECOND), exact: true });
    expect(await act.isDisabled()).toBe(true);
    await dialog(root).getByRole("textbox").fill(OWNER);
    expect(await act.isDisabled()).toBe(true);
    await dialog(root).getByRole("textbox").fill(SECOND);
    await inspect(root, "taking the role of an operator away");
    await act.click();
    await dialog(root).waitFor({ state: "hidden" });
    await waitFor(async () => (await inRow(rowOf(SECOND), words.remove).count()) === 0, "no operator");

    const asked = await fetch(`${dashboard.gateway.url}/app/v1/operator/organizations`, {
      headers: { cookie: await ada.cookie() },
    });
    expect([401, 403]).toContain(asked.status);
    expect(await audited("operator.remove")).toBe(1);
    await ada.leave();
    expect(root.complained()).toEqual([]);
  });
});

/** Tries to dismiss a dialog as a hasty person would. */
async function shrugOff({ page }: Visitor): Promise<void> {
  await page.keyboard.press("Escape");
  await page.mouse.click(5, 400);
}

async function keepsItsSecret(visitor: Visitor, secret: RegExp): Promise<string> {
  const shown = dialog(visitor).getByText(secret);
  const value = await shown.innerText();
  await shrugOff(visitor);
  expect(await shown.isVisible()).toBe(true);
  const done = dialog(visitor).getByRole("button", { name: secretTexts.done, exact: true });
  expect(await done.isDisabled()).toBe(true);
  await inspect(visitor, "a secret that is shown once");
  await dialog(visitor).getByLabel(secretTexts.stored).check();
  await done.click();
  await dialog(visitor).waitFor({ state: "hidden" });
  expect((await visitor.page.content()).includes(value)).toBe(false);
  return value;
}

/** The call works on the server, but its answer never arrives. */
async function loseAnswer({ page }: Visitor, address: string): Promise<void> {
  let lost = false;
  await page.route(address, async (route) => {
    // Lets reads of the list pass, and the second submission.
    if (lost || route.request().method() === "GET") return await route.continue();
    lost = true;
    await route.fetch();
    await route.abort();
  });
}

describe("a secret that is shown once", () => {
  async function fillKey(name: string): Promise<void> {
    await root.open(path.operator("people"));
    await root.page.getByRole("button", { name: words.createKey }).click();
    await dialog(root).getByLabel(words.columns.name, { exact: true }).fill(name);
  }

  test("management key: neither Escape nor a click beside the dialog loses it, and typing its name revokes it", async () => {
    await fillKey("Deploy");
    await press(root, words.createKey);
    const secret = await keepsItsSecret(root, /^gw_mk_/);
    const headers = { authorization: `Bearer ${secret}` };
    const call = async (): Promise<number> =>
      (await fetch(`${dashboard.gateway.url}/admin/v1/organizations`, { headers })).status;
    const row = rowsOf(root, words.keys).filter({ hasText: "Deploy" });
    expect(await row.innerText()).toContain(words.neverUsed);
    expect(await call()).toBe(200);
    await root.open(path.operator("people"));
    await row
      .getByText(/ago|now/)
      .last()
      .waitFor();
    expect(await row.innerText()).not.toContain(words.neverUsed);
    await inRow(rowsOf(root, words.keys).filter({ hasText: "Deploy" }), words.revokeKey).click();
    const act = dialog(root).getByRole("button", { name: words.revokeAction("Deploy"), exact: true });
    expect(await act.isDisabled()).toBe(true);
    await dialog(root).getByRole("textbox").fill("Deploy");
    await act.click();
    await dialog(root).waitFor({ state: "hidden" });
    expect(await call()).toBe(401);
  });

  test("it is not shown again if its answer was lost, and the form says so: one key was made", async () => {
    await fillKey("Backup");
    await loseAnswer(root, "**/operator/management-keys");
    await press(root, words.createKey);
    await dialog(root).getByRole("alert").waitFor();
    await press(root, words.createKey);
    await dialog(root).getByText(secretTexts.replayed).waitFor();
    expect(
      await dialog(root)
        .getByText(/gw_mk_/)
        .count(),
    ).toBe(0);
    expect(await dialog(root).getByRole("button", { name: words.createKey, exact: true }).count()).toBe(0);
    expect(await root.axe()).toEqual([]);
    await dialog(root).getByText(dialogTexts.close, { exact: true }).click();
    const keys = (await dashboard.root.app("GET /operator/management-keys")).data;
    expect(keys.filter(({ name }) => name === "Backup")).toHaveLength(1);
    root.complained();
  });

  test("webhook: the same", async () => {
    const olga = await dashboard.visitor(OWNER);
    const fill = async (name: string): Promise<void> => {
      await olga.open(path.organization(org, "alerts"));
      await olga.page.getByRole("button", { name: alerts.addChannel }).click();
      await dialog(olga).getByLabel(alerts.columns.name, { exact: true }).fill(name);
      await dialog(olga).getByLabel(alerts.address).fill("https://hooks.example.com/pager");
    };
    await fill("Pager");
    await press(olga, alerts.addChannel);
    expect(await keepsItsSecret(olga, /^whsec_/)).toStartWith("whsec_");
    await fill("Phone");
    await loseAnswer(olga, "**/alerts/channels");
    await press(olga, alerts.addChannel);
    await dialog(olga).getByRole("alert").waitFor();
    await press(olga, alerts.addChannel);
    await dialog(olga).getByText(secretTexts.replayed).waitFor();
    const phones = olga.page.getByRole("region", { name: alerts.channels }).getByText("Phone");
    await reads(() => phones.count(), 1);
    await olga.leave();
  });
});
