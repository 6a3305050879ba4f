// Every form that changes what others may change too: it is opened, then another person saves first. The typed values
// stay, the current values are shown, and saving anyway makes the change. The key's form has its story in
// `stories/two-admins`.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Locator } from "playwright-core";
import { path } from "../../dashboard/path-builder.ts";
import { alertsTexts as alerts } from "../../dashboard/pages/alerts/texts.ts";
import { billingTexts as billing } from "../../dashboard/pages/billing/texts.ts";
import {
  dialogTexts,
  meanwhileTexts as meanwhile,
  rateTexts as rates,
} from "../../dashboard/components/texts.ts";
import { operatorRoutesTexts as routes } from "../../dashboard/pages/operator/routes/texts.ts";
import { organizationsTexts as organizations } from "../../dashboard/pages/organizations/texts.ts";
import { settingsTexts as settings } from "../../dashboard/pages/settings/texts.ts";
import { teamTexts as team } from "../../dashboard/pages/team/texts.ts";
import { type Browser, newMember } from "../support/browser.ts";
import { PLAIN } from "../support/models.ts";
import { edit, type EditRoute, READ } from "../support/versions.ts";
import { waitFor } from "../support/wait.ts";
import { type Dashboard, OPERATOR, startDashboard, type Visitor } from "./dashboard.ts";
import { inspect } from "./inspect.ts";

const MEMBER = "vera@example.com";

let dashboard: Dashboard;
let params: Record<string, string>;
let owner: Browser;
let visitors: { owner: Visitor; operator: Visitor };

beforeAll(async () => {
  dashboard = await startDashboard({ configure: (config) => (config.payments.driver = "test") });
  const { root, gateway } = dashboard;
  const { id: org } = await root.app("POST /operator/organizations", {}, { name: "Acme" });
  owner = await newMember(root, gateway, { org, role: "owner", email: "olga@example.com" });
  const member = await newMember(root, gateway, { org, role: "viewer", email: MEMBER });
  const rule = { kind: "balance_below", amount_usd: "5", channels: [], on: true };
  params = {
    org,
    member: (await member.app("GET /session")).person?.id ?? "",
    rule: (await owner.app("POST /orgs/{org}/alerts/rules", { org }, rule)).id,
  };
  visitors = {
    owner: await dashboard.visitor("olga@example.com"),
    operator: await dashboard.visitor(OPERATOR),
  };
});
afterAll(() => dashboard.stop());

interface Form {
  route: EditRoute;
  by: keyof typeof visitors;
  at: () => string;
  /** Opens the form and fills it in. */
  fill: (page: Visitor["page"]) => Promise<Locator>;
  /** The other person's change of the row, and how the form describes it. */
  faster: object;
  told: string;
  /** The row after saving anyway. */
  saved: object;
}

const option = async (page: Visitor["page"], menu: string, item: string): Promise<void> => {
  await page.getByRole("button", { name: menu, exact: true }).click();
  await page.getByRole("menuitem", { name: item, exact: true }).click();
};

const FORMS: Form[] = [
  {
    route: "PATCH /orgs/{org}/team/{member}",
    by: "owner",
    at: () => path.organization(params["org"] ?? "", "team"),
    fill: async (page) => {
      await option(page, team.menu(MEMBER), team.changeRole);
      const form = page.getByRole("dialog");
      await form.getByLabel(team.roles.developer, { exact: true }).check();
      return form;
    },
    faster: { role: "billing" },
    told: `${team.role}: ${team.roles.billing}`,
    saved: { role: "developer" },
  },
  {
    route: "PUT /orgs/{org}/alerts/rules/{rule}",
    by: "owner",
    at: () => path.organization(params["org"] ?? "", "alerts"),
    fill: async (page) => {
      await page.getByRole("button", { name: alerts.edit, exact: true }).click();
      const form = page.getByRole("dialog");
      await form.getByLabel(alerts.amount).fill("7");
      return form;
    },
    faster: { kind: "spend_per_day", amount_usd: "9", channels: [], on: false },
    told: `${alerts.when}: ${alerts.conditions.spend_per_day("$9.00")}`,
    saved: { kind: "balance_below", amount_usd: "7.000000000", on: true },
  },
  {
    route: "PUT /orgs/{org}/billing/auto-top-up",
    by: "owner",
    at: () => path.organization(params["org"] ?? "", "billing"),
    fill: async (page) => {
      await page.getByLabel(billing.topUpBy, { exact: true }).fill("30");
      return page.getByRole("main");
    },
    faster: { on: true, threshold_usd: "8", amount_usd: "40", monthly_cap_usd: null },
    told: `${billing.topUpBy}: $40.00`,
    saved: { on: false, amount_usd: "30.000000000" },
  },
  {
    route: "PATCH /operator/organizations/{org}",
    by: "operator",
    at: () => path.operator("organizations"),
    fill: async (page) => {
      const row = page.getByRole("row").filter({ hasText: "Acme" });
      await row.getByRole("button", { name: organizations.rename, exact: true }).click();
      const form = page.getByRole("dialog");
      await form.getByLabel(organizations.name).fill("Acme Robotics");
      return form;
    },
    faster: { name: "Acme Tools" },
    told: `${organizations.name}: Acme Tools`,
    saved: { name: "Acme Robotics" },
  },
  {
    route: "PATCH /orgs/{org}/limits",
    by: "owner",
    at: () => path.organization(params["org"] ?? "", "settings"),
    fill: async (page) => {
      const limits = page.locator("form", { has: page.getByLabel(rates.dimensions.concurrent) });
      await limits.getByLabel(rates.dimensions.concurrent).fill("7");
      return limits;
    },
    faster: { requests_per_minute: 90, concurrent: 9 },
    told: `${rates.dimensions.concurrent}: ${rates.ofYourOwn("9")}`,
    saved: { own: { requests_per_minute: 90, tokens_per_minute: null, concurrent: 7 } },
  },
  {
    route: "PATCH /operator/limits",
    by: "operator",
    at: () => path.operator("routes"),
    fill: async (page) => {
      const row = page.getByRole("row").filter({ hasText: PLAIN.model });
      await row.getByRole("button", { name: routes.menu(`${PLAIN.model}@simulator/local`) }).click();
      await page.getByRole("menuitem", { name: routes.rates, exact: true }).click();
      const form = page.getByRole("dialog", { name: routes.ratesOf(PLAIN.model) });
      await form.getByLabel(rates.dimensions.concurrent).fill("7");
      return form;
    },
    faster: { model: PLAIN.model, requests_per_minute: 90, concurrent: 9 },
    told: `${rates.dimensions.concurrent}: ${rates.ofTheOperator("9")}`,
    saved: { set: { requests_per_minute: 90, tokens_per_minute: null, concurrent: 7 } },
  },
  {
    route: "PATCH /orgs/{org}/settings",
    by: "owner",
    at: () => path.organization(params["org"] ?? "", "settings"),
    fill: async (page) => {
      await page.getByLabel(settings.name, { exact: true }).fill("Acme Works");
      return page.getByRole("main");
    },
    faster: { name: "Acme Yards" },
    told: `${settings.name}: Acme Yards`,
    saved: { name: "Acme Works" },
  },
];

for (const { route, by, at, fill, faster, told, saved } of FORMS)
  test(`${route}: what was typed stays beside the current values, and can be saved anyway`, async () => {
    const visitor = visitors[by];
    const other = by === "operator" ? dashboard.root : owner;
    await visitor.open(at());
    const form = await fill(visitor.page);
    const typed = await valuesOf(form);
    await edit(other, route, params, faster);
    const button = (name: string): Locator => form.getByRole("button", { name, exact: true }).first();
    await button(route.includes("organizations") ? organizations.rename : dialogTexts.save).click();
    const alert = form.getByRole("alert").filter({ hasText: meanwhile.title });
    await alert.getByText(told).waitFor();
    expect(await valuesOf(form)).toEqual(typed);
    await inspect(visitor, route, { about: /409/ });
    await button(meanwhile.saveAnyway).click();
    await alert.waitFor({ state: "hidden" });
    await visitor.settled();
    await waitFor(async () => Bun.deepMatch(saved, await READ[route](other, params)), JSON.stringify(saved));
    expect(visitor.complained()).toEqual([]);
  }, 120_000);

/** The values of a form's fields. */
const valuesOf = (form: Locator): Promise<string[]> =>
  form
    .locator("input:not([type=checkbox]):not([type=radio])")
    .evaluateAll((fields) => fields.map((field) => (field as unknown as { value: string }).value));

test("what was typed can be dropped in favour of what the other person saved", async () => {
  const { page } = visitors.owner;
  await visitors.owner.open(path.organization(params["org"] ?? "", "settings"));
  const name = page.getByLabel(settings.name, { exact: true });
  await name.fill("Mine");
  await edit(owner, "PATCH /orgs/{org}/settings", params, { name: "Theirs" });
  await page.getByRole("button", { name: dialogTexts.save, exact: true }).first().click();
  await page.getByRole("button", { name: meanwhile.discard, exact: true }).click();
  expect(await name.inputValue()).toBe("Theirs");
  expect(await page.getByRole("alert").filter({ hasText: meanwhile.title }).count()).toBe(0);
  expect(visitors.owner.complained({ about: /409/ })).toEqual([]);
}, 120_000);
