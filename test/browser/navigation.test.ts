// Where people can go: for every role, each navigation entry leads to a page that answers, and every page that
// answers has an entry; a bare address redirects to the first page.
import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  OPERATOR_PAGES,
  ORGANIZATION_PAGES,
  type OrganizationPage,
  path,
} from "../../dashboard/path-builder.ts";
import { pageNames, shellTexts } from "../../dashboard/components/texts.ts";
import { allowance, ROLES, type Standing } from "../../src/domain/roles.ts";
import { newMember } from "../support/browser.ts";
import { waitFor } from "../support/wait.ts";
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

/** Pages of the organization that something on this page links to. */
const ledTo = async ({ page }: Visitor): Promise<string[]> =>
  await page
    .locator(`main a[href^="/o/${org}/"]`)
    .evaluateAll((links) =>
      links.map((link) => /^\/o\/[^/]+\/([a-z]+)/.exec(link.getAttribute("href") ?? "")?.[1] ?? ""),
    );

/** Every member may see this page, but those who may send nothing from it have no entry. */
const isUsed = (standing: Standing, page: OrganizationPage): boolean =>
  page !== "playground" || allowance(standing, "playground.use") !== null;

for (const standing of [...ROLES, "operator"] as const)
  test(`${standing}: the navigation has the pages that answer, and no other; nor does a page lead to one`, async () => {
    const visitor = await dashboard.visitor(standing === "operator" ? OPERATOR : `${standing}@example.com`);
    // Recorded by the page that asked, however late the answer comes.
    let shown: OrganizationPage = "settings";
    const askedBy = new WeakMap<object, OrganizationPage>();
    const refused = new Set<OrganizationPage>();
    const led = new Map<string, OrganizationPage>();
    const unanswered = new Set<object>();
    visitor.page.on("request", (request) => {
      askedBy.set(request, shown);
      if (request.resourceType() === "fetch") unanswered.add(request);
    });
    visitor.page.on("requestfailed", (request) => unanswered.delete(request));
    visitor.page.on("response", (response) => {
      unanswered.delete(response.request());
      const page = askedBy.get(response.request());
      if (response.status() === 403 && page !== undefined) refused.add(page);
    });
    await visitor.open(path.organization(org, "settings"));
    for (const page of ORGANIZATION_PAGES) {
      shown = page;
      await visitor.go(path.organization(org, page), pageNames[page]);
      for (const target of await ledTo(visitor)) led.set(target, page);
    }
    await waitFor(async () => unanswered.size === 0, "the answers to what the pages asked");
    const answering = ORGANIZATION_PAGES.filter((page) => !refused.has(page) && isUsed(standing, page)).map(
      (page) => path.organization(org, page),
    );
    await visitor.open(path.organization(org));
    expect((await entriesOf(visitor)).toSorted()).toEqual(answering.toSorted());
    expect(answering.length).toBeGreaterThan(6);
    const astray = [...led].filter(([target]) => !answering.some((page) => page === `/o/${org}/${target}`));
    expect(astray).toEqual([]);
    await visitor.leave();
  }, 120_000);

test("an operator's navigation has every operator page except the account, which is in the menu", async () => {
  const visitor = await dashboard.visitor(OPERATOR);
  await visitor.open(path.operator());
  expect((await entriesOf(visitor)).toSorted()).toEqual(
    OPERATOR_PAGES.filter((page) => page !== "account")
      .map((page) => path.operator(page))
      .toSorted(),
  );
  await visitor.leave();
});

test("a bare address redirects to its first page, and Back returns to the previous page", async () => {
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
