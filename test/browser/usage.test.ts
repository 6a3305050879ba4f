// Usage in two groupings, as a chart and as its table; a group and a bar lead to the requests behind them.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { exactMoney, heightOf } from "../../dashboard/format/money.ts";
import { path } from "../../dashboard/path-builder.ts";
import { texts } from "../../dashboard/texts.ts";
import { type Dashboard, startDashboard, type Visitor } from "./dashboard.ts";
import { furnish, type Furnished } from "./furnish.ts";
import { waitFor } from "./steps.ts";

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
  const settled = visitor.page.getByRole("row").filter({ hasText: "settled" });
  await waitFor(async () => (await settled.count()) === 3, "three requests");
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
  const settled = visitor.page.getByRole("row").filter({ hasText: "settled" });
  await waitFor(async () => (await settled.count()) === 3, "three requests");
  await visitor.page.getByRole("button", { name: /show all/ }).click();
  await visitor.page.waitForURL((url) => !url.searchParams.has("from"));
  expect(visitor.complained()).toEqual([]);
});

test("two keys of one name have a bar each, and names that differ", async () => {
  const made = await dashboard.root.app(
    "POST /orgs/{org}/keys",
    { org: house.org },
    { name: "Nightly batch" },
  );
  const twin = { organizationId: house.org, keyId: made.id, secret: made.secret ?? "" };
  await dashboard.gateway.chat(twin, { model: "plain-1", messages: [{ role: "user", content: "again" }] });
  await openUsage("group_by=key");
  const bars = visitor.page.locator(".recharts-bar-rectangle path");
  await bars.first().waitFor();
  const heights = await Promise.all((await bars.all()).map(async (bar) => (await bar.boundingBox())?.height));
  const used = await dashboard.root.app(
    "GET /orgs/{org}/usage",
    { org: house.org },
    undefined,
    "?group_by=key",
  );
  const [most, least] = used.rows.map(({ charge_usd }) => heightOf(charge_usd));
  expect(heights).toHaveLength(2);
  expect((heights[0] ?? 0) / (heights[1] ?? 1)).toBeCloseTo((most ?? 0) / (least ?? 1), 0);
  expect(new Set(await visitor.page.locator(".recharts-legend-wrapper p").allInnerTexts()).size).toBe(2);
  expect(visitor.complained()).toEqual([]);
});
