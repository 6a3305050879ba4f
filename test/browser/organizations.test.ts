// The operator's list of organizations: renaming one, and finding those that wait for an entitlement.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Locator } from "playwright-core";
import { path } from "../../dashboard/path-builder.ts";
import { operatorHomeTexts } from "../../dashboard/pages/operator/home/texts.ts";
import { dialogTexts, operatorPageNames, tableTexts } from "../../dashboard/components/texts.ts";
import { organizationsTexts as words } from "../../dashboard/pages/organizations/texts.ts";
import { teamTexts as team } from "../../dashboard/pages/team/texts.ts";
import { type Browser, newMember } from "../support/browser.ts";
import { RESEARCH } from "../support/models.ts";
import { waitFor } from "../support/wait.ts";
import { type Dashboard, DESKTOP, OPERATOR, PHONE, startDashboard, type Visitor } from "./dashboard.ts";
import { inspect } from "./inspect.ts";
import { rowsOf } from "./steps.ts";

let dashboard: Dashboard;
let root: Visitor;
let acme: string;

beforeAll(async () => {
  dashboard = await startDashboard();
  acme = (await organization("Acme")).org;
  await organization("Basalt");
  root = await dashboard.visitor(OPERATOR);
});
afterAll(() => dashboard.stop());

/** With one pending request and one that was decided. */
async function organization(name: string): Promise<{ org: string; owner: Browser }> {
  const { id: org } = await dashboard.root.app("POST /operator/organizations", {}, { name });
  const at = { org, role: "owner", email: `${name.toLowerCase()}@example.com` } as const;
  const owner = await newMember(dashboard.root, dashboard.gateway, at);
  for (const project of [`${name} done`, `${name} waits`]) {
    const asked = { model: RESEARCH.model, project, purpose: "Compare" };
    const { id } = await owner.app("POST /orgs/{org}/research", { org }, asked);
    if (project.endsWith("done"))
      await dashboard.root.app(
        "POST /operator/entitlements/{entitlement}/decline",
        { entitlement: id },
        { reason: "not now" },
      );
  }
  return { org, owner };
}

const rowOf = (name: string): Locator =>
  rowsOf(root, operatorPageNames.organizations).filter({ hasText: name });
const projects = async (): Promise<string[]> => {
  const rows = await rowsOf(root, operatorPageNames.entitlements).allInnerTexts();
  return rows.map((row) => /\w+ (?:done|waits)/.exec(row)?.[0] ?? row);
};

test("those that wait come first; an organization's link shows its own pending requests", async () => {
  await root.open(path.operator("entitlements"));
  expect(await projects()).toEqual(["Acme waits", "Basalt waits", "Basalt done", "Acme done"]);
  await root.open(path.operator("organizations"));
  await rowOf("Basalt")
    .getByRole("link", { name: words.asked(1) })
    .click();
  await waitFor(async () => (await projects()).join() === "Basalt waits", "the one that waits");
  const select = root.page.getByRole("combobox", { name: tableTexts.organization });
  await waitFor(async () => (await select.inputValue()) === "Basalt", "the name of the organization");
  await inspect(root, "entitlements of one organization");
  await root.resize(PHONE);
  const said = await rowsOf(root, operatorPageNames.entitlements)
    .first()
    .getByRole("cell")
    .first()
    .innerText();
  expect(said).toMatch(/\$0\.00 spent$/);
  await root.resize(DESKTOP);
});

test("renaming an organization leaves a line in the audit log", async () => {
  await root.open(path.operator("organizations"));
  await rowOf("Acme").getByRole("button", { name: words.rename, exact: true }).click();
  const dialog = root.page.getByRole("dialog");
  const act = dialog.getByRole("button", { name: words.rename, exact: true });
  expect(await act.isDisabled()).toBe(true);
  await dialog.getByLabel(words.name).fill("Acme Robotics");
  await inspect(root, "renaming an organization");
  await act.click();
  await rowOf("Acme Robotics").waitFor();
  const { data } = await dashboard.root.app("GET /operator/audit", {}, undefined, `?org=${acme}`);
  const line = data.find(({ action }) => action === "organization.settings");
  expect([line?.actor.name, line?.before, line?.after]).toEqual([
    "Root",
    JSON.stringify({ name: "Acme" }),
    JSON.stringify({ name: "Acme Robotics" }),
  ]);
  const params = { org: "org_doesnotexist" };
  const ghost = { name: "Ghost", version: "any" };
  const none = await dashboard.root.try("PATCH /operator/organizations/{org}", params, ghost);
  expect(none.status).toBe(404);
  expect(root.complained()).toEqual([]);
});

test("home says who waits, with a link", async () => {
  await root.open(path.operator("home"));
  const waiting = rowsOf(root, operatorHomeTexts.waiting);
  const basalt = waiting.filter({ hasText: "Basalt" });
  await basalt.getByRole("link", { name: operatorHomeTexts.asksFor(RESEARCH.model) }).click();
  await waitFor(async () => (await projects()).join() === "Basalt waits", "the one that waits");
  await root.open(path.operator("home"));
  await inspect(root, "home with somebody who waits");
});

test("all are listed by name, with numbers in numeric order; sorting by a figure covers all of them", async () => {
  const names = ["Customer 10", "Customer 9", "Customer 100"];
  for (let n = 0; n < 50; n += 1) names.push(`Numbered ${n}`);
  for (const name of names) await dashboard.root.app("POST /operator/organizations", {}, { name });
  await root.open(path.operator("organizations"));
  const links = rowsOf(root, operatorPageNames.organizations).locator("td:first-child a.name");
  await waitFor(async () => (await links.count()) > names.length, "all of them");
  const shown = await links.allInnerTexts();
  expect(shown.filter((name) => name.startsWith("Customer"))).toEqual([
    "Customer 9",
    "Customer 10",
    "Customer 100",
  ]);
  expect(shown.at(-1)).toBe("Numbered 49");
});

test("an operator gives a member another role and removes them, on the page of the organization's team", async () => {
  const email = "leaving@example.com";
  await newMember(dashboard.root, dashboard.gateway, { org: acme, role: "viewer", email });
  await root.open(path.organization(acme, "team"));
  const act = async (name: string): Promise<void> => {
    await root.page.getByRole("button", { name: team.menu(email) }).click();
    await root.page.getByRole("menuitem", { name }).click();
  };
  const dialog = (name: string): Locator => root.page.getByRole("dialog", { name });
  const row = root.page.getByRole("row").filter({ hasText: email });
  await act(team.changeRole);
  const role = dialog(team.changeRoleTitle(email));
  await role.getByLabel(team.roles.owner, { exact: true }).check();
  await role.getByRole("button", { name: dialogTexts.save }).click();
  await row.filter({ hasText: team.roles.owner }).waitFor();
  await act(team.remove);
  const removal = dialog(team.removeTitle(email));
  await removal.getByRole("textbox").fill(email);
  await removal.getByRole("button", { name: team.removeTitle(email) }).click();
  await row.waitFor({ state: "detached" });
  const { data } = await dashboard.root.app("GET /orgs/{org}/team", { org: acme });
  expect(data.map((member) => member.email)).toEqual(["acme@example.com"]);
});
