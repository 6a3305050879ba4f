// Usage in two groupings, as a chart and as its table; a group and a bar link to the requests behind them.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { exactMoney, formatMoney, heightOf } from "../../dashboard/format/money.ts";
import { lastMonths } from "../../dashboard/format/month.ts";
import { addDays, today } from "../../dashboard/format/time.ts";
import { path } from "../../dashboard/path-builder.ts";
import {
  chargedTexts,
  figureTexts,
  spendFilterTexts,
  tableTexts,
  windowTexts,
} from "../../dashboard/components/texts.ts";
import { overviewTexts } from "../../dashboard/pages/overview/texts.ts";
import { usageTexts as words } from "../../dashboard/pages/usage/texts.ts";
import { clearOfTheTurn, HOUR_MS, TURN_PATIENCE_MS, waitFor } from "../support/wait.ts";
import { type Dashboard, DESKTOP, NARROW, type Visitor } from "./dashboard.ts";
import { type Seeded, startSeeded } from "./fixture.ts";
import { inspect } from "./inspect.ts";

let dashboard: Dashboard;
let seeded: Seeded;
let visitor: Visitor;

beforeAll(async () => {
  await clearOfTheTurn(HOUR_MS);
  ({ dashboard, seeded, visitor } = await startSeeded());
}, TURN_PATIENCE_MS);
afterAll(() => dashboard.stop());

const openUsage = (query: string): Promise<boolean> =>
  visitor.open(`${path.organization(seeded.org, "usage")}?range=24h&${query}`);
const chargedUsd = async (): Promise<string> =>
  (await dashboard.root.app("GET /orgs/{org}/billing", { org: seeded.org })).charges_usd;
const charged = async (): Promise<string> => exactMoney(await chargedUsd());

test("a group of two groupings has the ledger's charge, and links to its requests", async () => {
  await openUsage("group_by=model&then_by=key");
  const row = visitor.page.getByRole("row").filter({ hasText: "plain-1 · Nightly batch" });
  expect(await row.getByRole("cell").last().innerText()).toBe(await charged());
  await row.getByRole("link").click();
  await visitor.page.waitForURL(/\/activity\?/);
  const settled = visitor.page.getByRole("row").filter({ hasText: "succeeded" });
  await waitFor(async () => (await settled.count()) === 3, "three requests");
});

test("the cumulative chart's table ends at the total", async () => {
  await openUsage("group_by=model&cumulative=true");
  await visitor.page.getByText(figureTexts.table, { exact: true }).click();
  const table = visitor.page.getByRole("region", { name: words.overTime });
  expect(await table.getByRole("cell").last().innerText()).toBe(await charged());
  expect(await visitor.axe()).toEqual([]);
});

test("a bar opens the requests of its hour", async () => {
  await openUsage("group_by=model");
  const bar = visitor.page.locator(".recharts-bar-rectangle path").last();
  await bar.hover();
  await bar.click();
  await visitor.page.waitForURL(/from=/);
  const settled = visitor.page.getByRole("row").filter({ hasText: "succeeded" });
  await waitFor(async () => (await settled.count()) === 3, "three requests");
  await visitor.page.getByRole("button", { name: /show all/ }).click();
  await visitor.page.waitForURL((url) => !url.searchParams.has("from"));
  expect(visitor.complained()).toEqual([]);
});

test("two keys of one name have separate bars with distinct names", async () => {
  const made = await dashboard.root.app(
    "POST /orgs/{org}/keys",
    { org: seeded.org },
    { name: "Nightly batch" },
  );
  const twin = { organizationId: seeded.org, keyId: made.id, secret: made.secret ?? "" };
  dashboard.gateway.simulator.behave({ behaviour: { classes: { cache_write: 7 } }, calls: 1 });
  await dashboard.gateway.chat(twin, { model: "plain-1", messages: [{ role: "user", content: "again" }] });
  await openUsage("group_by=key");
  const bars = visitor.page.locator(".recharts-bar-rectangle path");
  await bars.first().waitFor();
  const heights = await Promise.all((await bars.all()).map(async (bar) => (await bar.boundingBox())?.height));
  const used = await dashboard.root.app(
    "GET /orgs/{org}/usage",
    { org: seeded.org },
    undefined,
    "?group_by=key",
  );
  const [most, least] = used.rows.map(({ charge_usd }) => heightOf(charge_usd));
  expect(heights).toHaveLength(2);
  expect((heights[0] ?? 0) / (heights[1] ?? 1)).toBeCloseTo((most ?? 0) / (least ?? 1), 0);
  expect(new Set(await visitor.page.locator(".legend p").allInnerTexts()).size).toBe(2);
  expect(visitor.complained()).toEqual([]);
});

test("cache writes are shown beside cache reads, and are a measure of their own", async () => {
  await openUsage("group_by=model&measure=cache_write_tokens");
  const { page } = visitor;
  await page.getByText(words.cached("0", "7"), { exact: true }).waitFor();
  await page
    .getByRole("heading", { name: `${words.titles.cache_write_tokens}, ${figureTexts.buckets.hour}` })
    .waitFor();
  const table = page.getByRole("region", { name: words.table });
  const titles = await table.getByRole("columnheader").allInnerTexts();
  const at = titles.findIndex((title) => title.includes(words.measures.cache_write_tokens));
  for (const name of ["plain-1", words.total]) {
    const cells = table.getByRole("row").filter({ hasText: name }).getByRole("cell");
    expect(await cells.nth(at).innerText()).toBe("7");
  }
  expect(await visitor.axe()).toEqual([]);
  await visitor.resize(NARROW);
  expect(await visitor.overflow()).toBeLessThanOrEqual(0);
  await visitor.resize(DESKTOP);
  expect(visitor.complained()).toEqual([]);
});

test("a bar opens the requests of its own group", async () => {
  const query = "?range=24h&group_by=key&then_by=model";
  const { rows } = await dashboard.root.app("GET /orgs/{org}/usage", { org: seeded.org }, undefined, query);
  expect(rows).toHaveLength(2);
  for (const [at, { group, second }] of rows.entries()) {
    await openUsage("group_by=key&then_by=model");
    await visitor.page.locator(".recharts-bar").nth(at).locator("path").last().click();
    await visitor.page.waitForURL(/\/activity\?/);
    const { searchParams } = new URL(visitor.page.url());
    expect([searchParams.get("key"), searchParams.get("model")]).toEqual([group, second]);
    expect(searchParams.has("from")).toBe(true);
  }
  expect(visitor.complained()).toEqual([]);
});

test("the bar of the current period is marked, and the chart states its unit, its total and its largest group", async () => {
  await openUsage("group_by=model");
  const { page } = visitor;
  const bar = page.locator(".recharts-bar-rectangle path").last();
  expect(await bar.getAttribute("mask")).toStartWith("url(#");
  await bar.hover();
  await page.getByText(/, so far$/).waitFor();
  const title = `${words.titles.charge_usd}, ${figureTexts.buckets.hour}`;
  await page.getByRole("heading", { name: title }).waitFor();
  const name = (await page.getByRole("img", { name: title }).getAttribute("aria-label")) ?? "";
  expect(name).toContain(`${formatMoney(await chargedUsd())} in all`);
});

test("an hour with a total of zero is marked, an hour without requests is not", async () => {
  await openUsage("group_by=model&measure=cached_tokens");
  await visitor.page.locator(".zero-bar").first().waitFor();
  expect(await visitor.page.locator(".zero-bar").count()).toBe(1);
});

test("usage narrows to a key by its name, and says what to clear if nothing matches", async () => {
  await openUsage("group_by=model&model=gone-1");
  const { page } = visitor;
  await page.getByText(tableTexts.noMatch).waitFor();
  await page.getByRole("button", { name: tableTexts.clear }).last().click();
  await page.waitForURL((url) => !url.searchParams.has("model"));
  await page.getByRole("combobox", { name: spendFilterTexts.key }).click();
  await page.getByRole("option", { name: "Production", exact: true }).click();
  await page.getByText(tableTexts.noMatch).waitFor();
  expect(await visitor.axe()).toEqual([]);
});

test("chosen days are UTC days: today's use is in today, not in yesterday", async () => {
  const day = (days: number): string => addDays(today(), days);
  await openUsage("group_by=model&measure=requests");
  const { page } = visitor;
  await page.getByRole("combobox", { name: windowTexts.label }).click();
  await page.getByRole("option", { name: windowTexts.own }).click();
  await page.getByLabel(windowTexts.from).fill(day(-1));
  await page.waitForURL(new RegExp(`from=${day(-1)}&to=${day(1)}`));
  const table = page.getByRole("region", { name: words.table });
  await waitFor(
    async () => (await table.getByRole("link", { name: "plain-1" }).count()) === 1,
    "today's use",
  );
  expect(await visitor.axe()).toEqual([]);
  await page.getByLabel(windowTexts.to).fill(day(-1));
  await page.getByText(words.empty).waitFor();
  await visitor.resize(NARROW);
  expect(await visitor.overflow()).toBeLessThanOrEqual(0);
  await visitor.resize(DESKTOP);
  await page.getByRole("combobox", { name: windowTexts.label }).click();
  await page.getByRole("option", { name: windowTexts.named.last }).click();
  const [month = ""] = lastMonths(2).slice(1);
  await page.waitForURL(new RegExp(`from=${month}-01&to=${today().slice(0, 7)}-01`));
  const time = page.getByRole("combobox", { name: windowTexts.label });
  await time.click();
  await page.getByRole("option", { name: windowTexts.named.yesterday }).click();
  await page.waitForURL(new RegExp(`from=${day(-1)}&to=${day(0)}`));
  expect(await time.inputValue()).toBe(windowTexts.named.yesterday);
  await page.getByText(words.empty).waitFor();
  await time.click();
  await page.getByRole("option", { name: windowTexts.named.today }).click();
  await page.waitForURL(new RegExp(`from=${day(0)}&to=${day(1)}`));
  await table.getByRole("link", { name: "plain-1" }).waitFor();
  expect(visitor.complained()).toEqual([]);
});

test("the current view is saved under a name, opened again, and deleted", async () => {
  const { page } = visitor;
  const { views } = words;
  const open = () => page.getByRole("button", { name: views.title, exact: true }).click();
  await openUsage("group_by=key&measure=requests");
  await open();
  await page.getByText(views.empty).waitFor();
  await page.getByLabel(views.name, { exact: true }).fill("Requests by key");
  await page.getByRole("button", { name: views.keep }).click();
  await page.getByRole("dialog").waitFor({ state: "hidden" });
  await visitor.open(path.organization(seeded.org, "usage"));
  await open();
  await page.getByRole("link", { name: "Requests by key", exact: true }).waitFor();
  await inspect(visitor, "views of Usage");
  await page.getByRole("link", { name: "Requests by key", exact: true }).click();
  await page.waitForURL(/group_by=key/);
  const { searchParams } = new URL(page.url());
  expect(["range", "group_by", "measure"].map((name) => searchParams.get(name))).toEqual([
    "24h",
    "key",
    "requests",
  ]);
  await page.getByRole("dialog").waitFor({ state: "hidden" });
  await open();
  await page.getByRole("button", { name: views.removeNamed("Requests by key") }).click();
  await page.getByText(views.empty).waitFor();
  expect(visitor.complained()).toEqual([]);
});

test("charged requests are called so on every page that counts them", async () => {
  const { page } = visitor;
  const columns = async (): Promise<string[]> =>
    (await page.getByRole("columnheader").allInnerTexts()).map((title) => title.replace(/[↑↓↕]/g, "").trim());
  const [key] = (await dashboard.root.app("GET /orgs/{org}/keys", { org: seeded.org })).data;
  for (const address of [
    path.organization(seeded.org, "overview"),
    path.organization(seeded.org, "usage"),
    path.key(seeded.org, key?.id ?? ""),
  ]) {
    await visitor.open(address);
    await page.getByText(chargedTexts.requests, { exact: true }).first().waitFor();
    expect(await columns()).not.toContain(overviewTexts.requests);
  }
  await visitor.open(path.organization(seeded.org, "overview"));
  const tile = page.getByRole("link").filter({ hasText: overviewTexts.running("").split(";")[0] ?? "" });
  expect(await tile.innerText()).toStartWith(overviewTexts.requests);
});
