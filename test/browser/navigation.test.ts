// Where people can go: for every role, each entry of the navigation leads to a page that answers, and every page that
// answers has its entry; a bare address goes on to the first page.
import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  OPERATOR_PAGES,
  ORGANIZATION_PAGES,
  type OrganizationPage,
  path,
} from "../../dashboard/path-builder.ts";
import { pageNames, shellTexts, stateTexts } from "../../dashboard/components/texts.ts";
import { allowance, ROLES, type Standing } from "../../src/domain/roles.ts";
import { newMember } from "../support/browser.ts";
import { type Dashboard, OPERATOR, startDashboard, type Visitor } from "./dashboard.ts";

let dashboard: Dashboard;
let org: string;

beforeAll(async () => {
  dashboard = await startDashboard();
  const { root, gateway } = dashboard;
  org = (await root.app("POST /operator/organizations", {}, { name: "Acme" })).id;
  for (const role of ROLES) await newMember(root, gateway, { org, role, email: `${role}@example.com` });
});
afterAll(() => dashboard.stop());

const entriesOf = async ({ page }: Visitor): Promise<string[]> =>
  await page
    .getByRole("navigation", { name: shellTexts.main })
    .getByRole("link")
    .evaluateAll((links) => links.map((link) => link.getAttribute("href") ?? ""));

/** Looking is allowed to everybody; who may not send anything from it has no entry. */
const isUsed = (standing: Standing, page: OrganizationPage): boolean =>
  page !== "playground" || allowance(standing, "playground.use") !== null;

for (const standing of [...ROLES, "operator"] as const)
  test(`${standing}: the navigation has the pages that answer, and no other`, async () => {
    const visitor = await dashboard.visitor(standing === "operator" ? OPERATOR : `${standing}@example.com`);
    const answering: string[] = [];
    await visitor.open(path.organization(org, "settings"));
    for (const page of ORGANIZATION_PAGES) {
      await visitor.go(path.organization(org, page), pageNames[page]);
      // What stands on the page, not what its calls answered: a late one would be told of the page after it.
      const refused = await visitor.page.getByText(stateTexts.forbidden, { exact: true }).count();
      if (refused === 0 && isUsed(standing, page)) answering.push(path.organization(org, page));
    }
    await visitor.open(path.organization(org));
    expect((await entriesOf(visitor)).toSorted()).toEqual(answering.toSorted());
    expect(answering.length).toBeGreaterThan(6);
    await visitor.leave();
  }, 120_000);

test("an operator's navigation has every page of operators but the own account, which is in the menu", async () => {
  const visitor = await dashboard.visitor(OPERATOR);
  await visitor.open(path.operator());
  expect((await entriesOf(visitor)).toSorted()).toEqual(
    OPERATOR_PAGES.filter((page) => page !== "account")
      .map((page) => path.operator(page))
      .toSorted(),
  );
  await visitor.leave();
});

test("a bare address goes on to its first page, and back leads to where one came from", async () => {
  const visitor = await dashboard.visitor(OPERATOR);
  for (const [bare, first] of [
    ["/operator", path.operator("home")],
    ["/operator/", path.operator("home")],
    [`/o/${org}`, path.organization(org)],
    [`/o/${org}/`, path.organization(org)],
  ] as const) {
    await visitor.open(path.operator("people"));
    expect([bare, await visitor.open(bare)]).toEqual([bare, true]);
    await visitor.page.waitForURL((url) => url.pathname === first);
    await visitor.page.goBack();
    await visitor.page.waitForURL((url) => url.pathname === path.operator("people"));
  }
  await visitor.leave();
});
