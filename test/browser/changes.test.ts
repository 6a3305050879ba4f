// Forms that change something: an irreversible action is confirmed first, and a form sent again acts once.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Locator } from "playwright-core";
import { type OrganizationPage, path } from "../../dashboard/path-builder.ts";
import { alertsTexts as alerts } from "../../dashboard/pages/alerts/texts.ts";
import { dialogTexts, pageNames, stateTexts } from "../../dashboard/components/texts.ts";
import { keysTexts as keys } from "../../dashboard/pages/keys/texts.ts";
import { researchTexts as research } from "../../dashboard/pages/research/texts.ts";
import { settingsTexts as settings } from "../../dashboard/pages/settings/texts.ts";
import { teamTexts as team } from "../../dashboard/pages/team/texts.ts";
import { newMember } from "../support/browser.ts";
import { type Dashboard, startDashboard, type Visitor } from "./dashboard.ts";
import { seed, type Seeded } from "./fixture.ts";
import { inspect } from "./inspect.ts";
import { keyAct } from "./steps.ts";

const INVITED = "ines@example.com";
const LEAVING = "lena@example.com";

let dashboard: Dashboard;
let seeded: Seeded;
let visitor: Visitor;

beforeAll(async () => {
  dashboard = await startDashboard();
  seeded = await seed(dashboard);
  const { root, gateway } = dashboard;
  const { org } = seeded;
  await newMember(root, gateway, { org, role: "viewer", email: LEAVING });
  const admin = await newMember(root, gateway, { org, role: "admin", email: "adam@example.com" });
  await admin.app("POST /orgs/{org}/invitations", { org }, { email: INVITED, role: "viewer" });
  for (const amount_usd of ["5", "50"]) {
    const rule = { kind: "balance_below", amount_usd, channels: [], on: true };
    await admin.app("POST /orgs/{org}/alerts/rules", { org }, rule);
  }
  const hook = { kind: "webhook", name: "Pager", target: "https://example.com/pager" };
  await admin.app("POST /orgs/{org}/alerts/channels", { org }, hook);
  await dashboard.visitor(seeded.owner);
  visitor = await dashboard.visitor(seeded.owner);
  await visitor.open(path.organization(org));
});
afterAll(() => dashboard.stop());

interface Form {
  what: string;
  on: OrganizationPage;
  /** Opens the form and fills it in; returns the button that submits it. */
  open: () => Promise<Locator>;
}

const button = (within: Visitor["page"] | Locator, name: string): Locator =>
  within.getByRole("button", { name, exact: true });
const dialog = (name: string): Locator => visitor.page.getByRole("dialog", { name, exact: true });

/** From the menu of a row, or from its buttons. */
async function act(menu: string, item: string): Promise<void> {
  await button(visitor.page, menu).click();
  await visitor.page.getByRole("menuitem", { name: item, exact: true }).click();
}

async function asked(opener: Locator, name: string): Promise<Locator> {
  await opener.click();
  await dialog(name).waitFor();
  return button(dialog(name), name);
}

const rowOf = (text: string): Locator => visitor.page.getByRole("row").filter({ hasText: text });

const FORMS: Form[] = [
  {
    what: "a key is edited",
    on: "keys",
    open: async () => {
      const form = await keyAct(visitor, "Production", "edit");
      await form.getByLabel(keys.limit).fill("120");
      return button(form, dialogTexts.save);
    },
  },
  {
    what: "a key is revoked",
    on: "keys",
    open: async () => {
      const form = await keyAct(visitor, "Production", "revoke");
      await form.getByRole("textbox").fill("Production");
      return button(form, keys.revokeAction("Production"));
    },
  },
  {
    what: "a role is changed",
    on: "team",
    open: async () => {
      await act(team.menu(LEAVING), team.changeRole);
      const form = dialog(team.changeRoleTitle(LEAVING));
      await form.getByLabel(team.roles.developer, { exact: true }).check();
      return button(form, dialogTexts.save);
    },
  },
  {
    what: "a member is removed",
    on: "team",
    open: async () => {
      await act(team.menu(LEAVING), team.remove);
      const form = dialog(team.removeTitle(LEAVING));
      await form.getByRole("textbox").fill(LEAVING);
      return button(form, team.removeTitle(LEAVING));
    },
  },
  {
    what: "an invitation is withdrawn",
    on: "team",
    open: () => asked(button(visitor.page, team.withdrawFor(INVITED)), team.withdrawFor(INVITED)),
  },
  {
    what: "a question for a research model is taken back",
    on: "research",
    open: async () => {
      await button(rowOf("Grasping"), research.withdraw).click();
      const form = visitor.page.getByRole("dialog");
      return form.getByRole("button", { name: /^Withdraw the request for/ });
    },
  },
  {
    what: "a rule is removed",
    on: "alerts",
    open: () => asked(button(rowOf("$5.00"), alerts.remove), alerts.removeRule),
  },
  {
    what: "a channel is removed",
    on: "alerts",
    open: () => asked(button(rowOf("Pager"), alerts.remove), alerts.removeChannel("Pager")),
  },
  {
    what: "a session is ended",
    on: "settings",
    open: async () => {
      const where = settings.endTitle("Chrome on Linux");
      await button(visitor.page, where).first().click();
      await dialog(where).waitFor();
      return button(dialog(where), where);
    },
  },
];

/** The idempotency keys of the changes that this page sends; the first answer is lost in transit. */
async function losingOneAnswer(): Promise<(string | undefined)[]> {
  const sent: (string | undefined)[] = [];
  await visitor.page.unrouteAll();
  await visitor.page.route("**/app/v1/**", async (route) => {
    const request = route.request();
    if (request.method() === "GET") return route.continue();
    sent.push(await request.headerValue("idempotency-key").then((key) => key ?? undefined));
    if (sent.length > 1) return route.continue();
    await route.fetch();
    await route.abort();
  });
  return sent;
}

for (const { what, on, open } of FORMS)
  test(`${what}: confirmed first, and done once though the first answer was lost`, async () => {
    const { page } = visitor;
    await visitor.go(path.organization(seeded.org, on), pageNames[on]);
    const submit = await open();
    await inspect(visitor, what);
    const sent = await losingOneAnswer();
    await submit.click();
    // Found by its name, because a form for an irreversible action shows a warning from the start.
    await page.getByRole("dialog").getByRole("alert", { name: stateTexts.failed }).waitFor();
    await submit.click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(sent).toHaveLength(2);
    expect(sent[0]).toMatch(/^[0-9a-f]{32}$/);
    expect(sent[1]).toBe(sent[0]);
    await page.unrouteAll();
    expect(visitor.complained({ about: /ERR_FAILED/ })).toEqual([]);
  }, 120_000);

test("a rule for one key names the key", async () => {
  const { page } = visitor;
  await visitor.go(path.organization(seeded.org, "alerts"), pageNames.alerts);
  await button(page, alerts.addRule).first().click();
  const form = dialog(alerts.addRule);
  await form.getByRole("combobox", { name: alerts.when }).click();
  await page.getByRole("option", { name: alerts.conditions.key_limit("…") }).click();
  await form.getByRole("combobox", { name: alerts.key }).click();
  await page.getByRole("option", { name: /^Nightly batch/ }).click();
  await inspect(visitor, "a rule for one key");
  await button(form, dialogTexts.save).click();
  await rowOf(alerts.keyLimitOf("Nightly batch", "90 %")).waitFor();
  expect(visitor.complained()).toEqual([]);
}, 120_000);
