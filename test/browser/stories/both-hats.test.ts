// An operator of the gateway who is also a member of an organization: its pages show what either may do, as the
// server allows it.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Locator } from "playwright-core";
import { path } from "../../../dashboard/path-builder.ts";
import { dialogTexts, pageNames, rateTexts, secretTexts } from "../../../dashboard/components/texts.ts";
import { teamTexts as team } from "../../../dashboard/pages/team/texts.ts";
import { newMember, operatorJoins } from "../../support/browser.ts";
import { waitFor } from "../../support/wait.ts";
import { type Dashboard, OPERATOR, startDashboard, type Visitor } from "../dashboard.ts";
import { inspect } from "../inspect.ts";
import { newOrganization, rowsOf } from "../steps.ts";

const OWNER = "olga@example.com";
let dashboard: Dashboard;
let root: Visitor;

beforeAll(async () => {
  dashboard = await startDashboard();
  root = await dashboard.visitor(OPERATOR);
});
afterAll(() => dashboard.stop());

const dialog = (): Locator => root.page.getByRole("dialog");

test("an operator who is a viewer of an organization invites, changes an owner's role and removes them", async () => {
  const org = await newOrganization(dashboard, "Acme Robotics");
  const { root: operator, gateway } = dashboard;
  await newMember(operator, gateway, { org, role: "owner", email: "first@example.com" });
  await newMember(operator, gateway, { org, role: "owner", email: OWNER });
  await operatorJoins(operator, { org, role: "viewer", email: OPERATOR });
  await root.open(path.organization(org, "overview"));
  await root.page.getByRole("link", { name: pageNames.team }).click();
  await root.arrived(pageNames.team);

  await root.page.getByRole("button", { name: team.invite }).click();
  await dialog().getByLabel(team.email).fill("new@example.com");
  await dialog().getByRole("radio", { name: team.roles.owner }).check();
  await dialog().getByRole("button", { name: team.invite }).click();
  await dialog()
    .getByText(/#token=/)
    .waitFor();
  await dialog().getByRole("button", { name: secretTexts.done }).click();
  await dialog().waitFor({ state: "hidden" });
  await root.page.getByRole("button", { name: team.withdrawFor("new@example.com") }).waitFor();

  await root.page.getByRole("button", { name: team.menu(OWNER) }).click();
  await root.page.getByRole("menuitem", { name: team.changeRole }).click();
  await dialog().getByRole("radio", { name: team.roles.developer }).check();
  await dialog().getByRole("button", { name: dialogTexts.save, exact: true }).click();
  await dialog().waitFor({ state: "hidden" });
  const row = rowsOf(root, team.members).filter({ hasText: OWNER });
  await row.getByRole("cell", { name: team.roles.developer, exact: true }).waitFor();
  await root.page.getByRole("button", { name: team.menu(OWNER) }).click();
  await root.page.getByRole("menuitem", { name: team.remove }).click();
  await dialog().getByRole("textbox").fill(OWNER);
  await dialog()
    .getByRole("button", { name: team.removeTitle(OWNER) })
    .click();
  await row.waitFor({ state: "hidden" });
  for (const page of ["billing", "alerts", "audit"] as const)
    await root.go(path.organization(org, page), pageNames[page]);
  expect(root.complained()).toEqual([]);
});

test("an operator who owns an organization sets the maximum and, beside it, the organization's own limit", async () => {
  const org = await newOrganization(dashboard, "Basalt Labs");
  await operatorJoins(dashboard.root, { org, role: "owner", email: OPERATOR });
  await root.open(path.organization(org, "settings"));
  const limits = root.page.locator("form").filter({ hasText: rateTexts.dimensions.concurrent });
  const set = async (count: string): Promise<void> => {
    await limits.getByLabel(rateTexts.dimensions.concurrent).fill(count);
    await limits.getByRole("button", { name: dialogTexts.save, exact: true }).click();
  };
  await limits.getByText(rateTexts.leadOfOperator).waitFor();
  await set("9");
  await limits.getByText(rateTexts.ofTheOperator("9")).waitFor();
  await root.page.getByRole("radio", { name: rateTexts.words.organization }).check();
  await limits.getByText(rateTexts.lead).waitFor();
  await set("7");
  await limits.getByText(rateTexts.ofYourOwn("7")).waitFor();
  await inspect(root, "limits of somebody with both hats");
  const now = async () => (await dashboard.root.app("GET /orgs/{org}/limits", { org })).data[0];
  await waitFor(async () => (await now())?.own.concurrent === 7, "the organization's own limit");
  expect((await now())?.set.concurrent).toBe(9);
  expect(root.complained()).toEqual([]);
});
