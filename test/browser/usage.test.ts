// Usage in two groupings, as a chart and as its table; a group and a bar lead to the requests behind them.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { exactMoney } from "../../dashboard/format/money.ts";
import { path } from "../../dashboard/path-builder.ts";
import { texts } from "../../dashboard/texts.ts";
import { type Dashboard, startDashboard, type Visitor } from "./dashboard.ts";
import { furnish, type Furnished } from "./furnish.ts";

const words = texts.usage;
let dashboard: Dashboard;
let house: Furnished;
let visitor: Visitor;

beforeAll(async () => {
  dashboard = await startDashboard();
  house = await furnish(dashboard);
  visitor = await dashboard.visitor(house.owner);
});
afterAll(() => dashboard.stop());

const openUsage = (query: string): Promise<boolean> =>
  visitor.open(`${path.organization(house.org, "usage")}?range=24h&${query}`);
const charged = async (): Promise<string> => {
  const billing = await dashboard.root.app("GET /orgs/{org}/billing", { org: house.org });
  return exactMoney(billing.charges_usd);
};

test("a group of two groupings has the ledger's charge, and leads to its requests", async () => {
  await openUsage("group_by=model&then_by=key");
  const row = visitor.page.getByRole("row").filter({ hasText: "plain-1 · Nightly batch" });
  expect(await row.getByRole("cell").last().innerText()).toBe(await charged());
  await row.getByRole("link").click();
  await visitor.page.waitForURL(/\/activity\?/);
  await visitor.settled();
  expect(await visitor.page.getByRole("row").filter({ hasText: "settled" }).count()).toBe(3);
});

test("the table of the chart ends at the total when it is cumulative", async () => {
  await openUsage("group_by=model&cumulative=true");
  await visitor.page.getByText(texts.figure.table, { exact: true }).click();
  const table = visitor.page.getByRole("region", { name: words.course });
  expect(await table.getByRole("cell").last().innerText()).toBe(await charged());
  expect(await visitor.axe()).toEqual([]);
});

test("a bar opens the requests of its hour", async () => {
  await openUsage("group_by=model");
  const bar = visitor.page.locator(".recharts-bar-rectangle path").last();
  await bar.hover();
  await bar.click();
  await visitor.page.waitForURL(/from=/);
  await visitor.settled();
  expect(await visitor.page.getByRole("row").filter({ hasText: "settled" }).count()).toBe(3);
  await visitor.page.getByRole("button", { name: /show all/ }).click();
  await visitor.page.waitForURL((url) => !url.searchParams.has("from"));
  expect(visitor.complained()).toEqual([]);
});
