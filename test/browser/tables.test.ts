// What every table does: its order in the address, its head on the screen, a link in its first cell, a way to clear
// filters that nothing matches.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { path } from "../../dashboard/path-builder.ts";
import { activityTexts } from "../../dashboard/pages/activity/texts.ts";
import { keysTexts } from "../../dashboard/pages/keys/texts.ts";
import { usageTexts } from "../../dashboard/pages/usage/texts.ts";
import { operatorPageNames, pageNames, tableTexts } from "../../dashboard/components/texts.ts";
import { reads, waitFor } from "../support/wait.ts";
import { type Dashboard, DESKTOP, OPERATOR, PHONE, type Visitor } from "./dashboard.ts";
import { type Seeded, startSeeded } from "./fixture.ts";
import { inspect } from "./inspect.ts";
import { clickQuickly, rowsOf } from "./steps.ts";

let dashboard: Dashboard;
let seeded: Seeded;
let visitor: Visitor;

beforeAll(async () => {
  ({ dashboard, seeded, visitor } = await startSeeded());
});
afterAll(() => dashboard.stop());

const names = async (): Promise<string[]> =>
  (await rowsOf(visitor, pageNames.keys).locator("td:first-child a").allInnerTexts()).map((name) =>
    name.trim(),
  );

test("the order is in the address, and a pasted link has it", async () => {
  const { page } = visitor;
  await visitor.open(path.organization(seeded.org, "keys"));
  const head = page.getByRole("button", { name: keysTexts.columns.name });
  await head.click();
  await page.waitForURL((url) => url.search === "?sort=-name");
  await reads(names, ["Production", "Nightly batch"]);
  await head.click();
  await page.waitForURL((url) => url.search === "?sort=name");
  await reads(names, ["Nightly batch", "Production"]);
  await visitor.open(`${path.organization(seeded.org, "keys")}?sort=name&state=all`);
  expect(await names()).toEqual(["Laptop", "Nightly batch", "Production"]);
  const column = page.getByRole("columnheader", { name: keysTexts.columns.name });
  expect(await column.getAttribute("aria-sort")).toBe("ascending");
  await head.click();
  await page.waitForURL((url) => url.search === "?state=all");
});

test("clicks on a header in quick succession each count", async () => {
  const { page } = visitor;
  await visitor.open(path.organization(seeded.org, "keys"));
  const head = page.getByRole("button", { name: keysTexts.columns.name });
  await clickQuickly(head, 2);
  await page.waitForURL((url) => url.search === "?sort=name");
  await reads(names, ["Nightly batch", "Production"]);
  await clickQuickly(head, 2);
  await page.waitForURL((url) => url.search === "?sort=-name");
  await reads(names, ["Production", "Nightly batch"]);
});

test.each([
  ["activity", activityTexts.live, "?live=true"],
  ["usage", usageTexts.cumulative, "?cumulative=true"],
] as const)("%s: each of two quick clicks on %s turns it", async (place, name, on) => {
  const { page } = visitor;
  await visitor.open(path.organization(seeded.org, place));
  const button = page.getByRole("button", { name, exact: true });
  const query = (): Promise<string> => page.evaluate<string>("location.search");
  await clickQuickly(button, 2);
  expect(await query()).toBe("");
  await button.click();
  await reads(query, on);
});

test("filters that nothing matches are cleared with one button, the order stays", async () => {
  const { page } = visitor;
  await visitor.open(`${path.organization(seeded.org, "keys")}?search=nobody&scope=research&sort=name`);
  expect(await rowsOf(visitor, pageNames.keys).count()).toBe(0);
  await inspect(visitor, "no match");
  await page.getByRole("button", { name: tableTexts.clear }).click();
  await page.waitForURL((url) => url.search === "?sort=name");
  await reads(names, ["Nightly batch", "Production"]);
  expect(await page.getByLabel(keysTexts.search).inputValue()).toBe("");
});

test("the lines of a cell are stacked: the model over its project, the requester over the time", async () => {
  await visitor.resize({ width: 2400, height: 900 }); // there is room for both side by side
  await visitor.open(path.organization(seeded.org, "research"));
  const row = rowsOf(visitor, pageNames.research).first();
  for (const cell of [0, 2]) {
    const [first, second] = await row.getByRole("cell").nth(cell).locator("div > div.name").all();
    const [above, below] = [await first?.boundingBox(), await second?.boundingBox()];
    if (!above || !below) throw new Error("a cell has not two lines");
    expect(below.y).toBeGreaterThanOrEqual(above.y + above.height);
  }
});

test("the head stays on the screen while the rows scroll", async () => {
  const { page } = visitor;
  await visitor.resize({ ...DESKTOP, height: 240 });
  await visitor.open(path.organization(seeded.org, "activity"));
  const head = page.getByRole("columnheader", { name: activityTexts.columns.charge });
  const last = rowsOf(visitor, pageNames.activity).last();
  const topOf = async (): Promise<number> => (await head.boundingBox())?.y ?? -1;
  await last.evaluate((row) => row.scrollIntoView({ block: "start" }));
  await page.mouse.wheel(0, 2000);
  await waitFor(async () => (await topOf()) < 60, "the page to scroll");
  expect(await topOf()).toBeGreaterThanOrEqual(56);
  await visitor.resize(DESKTOP);
});

test("a narrow screen keeps what a row is and its amount, whole and inside the frame, and its filters in one row", async () => {
  const { page } = visitor;
  const table = page.getByRole("region", { name: pageNames.activity });
  const head = (title: string) => table.getByRole("columnheader", { name: title });
  await visitor.open(path.organization(seeded.org, "activity"));
  expect(await head(activityTexts.columns.first).isVisible()).toBe(true);
  for (const width of [1024, PHONE.width]) {
    await visitor.resize({ width, height: 800 });
    const frame = await table.boundingBox();
    const amount = await head(activityTexts.columns.charge).boundingBox();
    expect(await head(activityTexts.columns.time).isVisible()).toBe(true);
    expect((amount?.x ?? 0) + (amount?.width ?? 0)).toBeLessThanOrEqual(
      (frame?.x ?? 0) + (frame?.width ?? 0) + 1,
    );
  }
  expect(await head(activityTexts.columns.first).isVisible()).toBe(false);
  const filter = page.getByRole("combobox", { name: activityTexts.state, exact: true });
  expect(await filter.isVisible()).toBe(false);
  await page.getByRole("button", { name: tableTexts.filters, exact: true }).click();
  expect(await filter.isVisible()).toBe(true);
  // Set filters are visible, even where the others are hidden.
  await visitor.open(`${path.organization(seeded.org, "activity")}?state=settled`);
  expect(await filter.isVisible()).toBe(true);
  await inspect(visitor, "a filter that is set");
  await visitor.resize(DESKTOP);
});

test("a column's content is shown once at every width: exactly where the column is folded, the first cell shows it", async () => {
  await visitor.open(path.organization(seeded.org, "team"));
  const shown = (marked: string): Promise<boolean[]> =>
    visitor.page.evaluate<boolean[]>(
      `[...document.querySelectorAll(".table-scroll " + ${JSON.stringify(marked)})].map((one) => one.checkVisibility())`,
    );
  for (const [width, narrow] of [
    [767, true],
    [768, false],
    [769, false],
  ] as const) {
    await visitor.resize({ width, height: 800 });
    const [columns, first] = [
      await shown("th.wide-only:not(.folded)"),
      await shown("[class*=hidden-from-sm]"),
    ];
    const said = { width, columns: new Set(columns), first: new Set(first) };
    expect(said).toEqual({ width, columns: new Set([!narrow]), first: new Set([narrow]) });
  }
  await visitor.resize(DESKTOP);
});

test("the points of a column's amounts stand under each other", async () => {
  await visitor.open(path.organization(seeded.org, "billing"));
  const points = await visitor.page.evaluate<number[]>(
    `[...document.querySelectorAll("td:last-child .fraction")].map((one) => Math.round(one.getBoundingClientRect().left))`,
  );
  expect(points.length).toBeGreaterThan(3);
  expect(new Set(points).size).toBe(1);
});

test("a row of Activity is a link that can be opened in a new tab", async () => {
  await visitor.open(`${path.organization(seeded.org, "activity")}?state=settled`);
  const link = rowsOf(visitor, pageNames.activity).first().getByRole("link");
  const address = (await link.getAttribute("href")) ?? "";
  expect(address).toMatch(/\/activity\?state=settled&req=req_/);
  await visitor.open(address);
  await visitor.page.getByRole("dialog").getByText(activityTexts.cost, { exact: true }).waitFor();
  await inspect(visitor, "the drawer");
  expect(visitor.complained()).toEqual([]);
});

test("a request's organization and model are shown once at every width, whether or not their columns fit", async () => {
  const root = await dashboard.visitor(OPERATOR);
  const rows = rowsOf(root, operatorPageNames.requests);
  const { data } = await dashboard.root.app("GET /operator/organizations", {});
  const org = data.find(({ id }) => id === seeded.org)?.name ?? "";
  for (const width of [1440, 1280, 1024, 900, 768, 600, 390]) {
    await root.resize({ width, height: 900 });
    await root.open(`${path.operator("requests")}?state=settled`);
    const told = await rows.first().innerText();
    expect([width, told.split(org).length - 1]).toEqual([width, 1]);
    expect([width, told.match(/(plain|research)-\d/g)?.length]).toEqual([width, 1]);
    const folded = root.page.getByRole("button", { name: /more columns?$/ });
    if ((await folded.count()) === 0) continue;
    await folded.click();
    await root.page.getByRole("button", { name: tableTexts.fewerColumns }).waitFor();
    expect([width, (await rows.first().innerText()).split(org).length - 1]).toEqual([width, 1]);
  }
  await root.leave();
}, 120_000);

test("a sentence of the log fits beside its time, however long a name in it is", async () => {
  const name = "Abteilungsleitungsassistenz".repeat(4);
  await dashboard.root.app("POST /orgs/{org}/keys", { org: seeded.org }, { name });
  for (const width of [1280, 900, 768, 600, 390]) {
    await visitor.resize({ width, height: 900 });
    await visitor.open(path.organization(seeded.org, "audit"));
    const table = visitor.page.getByRole("region", { name: pageNames.audit, exact: true });
    const [inner, outer] = await table.evaluate((box) => [box.scrollWidth, box.clientWidth]);
    expect([width, inner]).toEqual([width, outer]);
  }
  await visitor.resize(DESKTOP);
}, 120_000);

test("one long name displaces no column of the other rows", async () => {
  const name = "Nightly_batch_of_the_warehouse_".repeat(3);
  await dashboard.root.app("POST /orgs/{org}/keys", { org: seeded.org }, { name });
  await visitor.resize({ width: 1440, height: 900 });
  await visitor.open(path.organization(seeded.org, "keys"));
  await visitor.page.getByRole("link", { name, exact: true }).waitFor();
  expect(await visitor.page.getByRole("button", { name: /more columns?$/ }).count()).toBe(0);
  await visitor.resize(DESKTOP);
});

test("sorting by a figure says which rows it covers, as long as the server has more", async () => {
  const { page } = visitor;
  const told = page.getByText(tableTexts.ordered("2"));
  await page.route("**/app/v1/orgs/*/keys*", async (route) => {
    const response = await route.fetch();
    const of = (await response.json()) as { data: object[] };
    await route.fulfill({ response, json: { ...of, data: of.data.slice(0, 2), next_cursor: "further" } });
  });
  await visitor.open(path.organization(seeded.org, "keys"));
  expect(await told.count()).toBe(0);
  await visitor.open(`${path.organization(seeded.org, "keys")}?sort=-this-month`);
  await told.waitFor();
  await page.unroute("**/app/v1/orgs/*/keys*");
});

test("a table without rows offers no more columns", async () => {
  const { id: org } = await dashboard.root.app("POST /operator/organizations", {}, { name: "Nobody" });
  const root = await dashboard.visitor(OPERATOR, PHONE);
  await root.open(path.organization(org, "team"));
  await root.page.getByText(tableTexts.nothing).first().waitFor();
  expect(await root.page.getByRole("button", { name: /more columns?$/ }).count()).toBe(0);
  await root.leave();
});

test("an endless name takes three lines of its row on a phone, and the requests of all organizations fit beside it", async () => {
  const { root } = dashboard;
  const endless = "x".repeat(200);
  const { id: org } = await root.app("POST /operator/organizations", {}, { name: endless });
  const { id, secret } = await root.app("POST /orgs/{org}/keys", { org }, { name: endless });
  const customer = { organizationId: org, keyId: id, secret: secret ?? "" };
  await dashboard.gateway.chat(customer, { model: "plain-1", messages: [], max_tokens: 8 });
  const operator = await dashboard.visitor(OPERATOR, { width: 360, height: 740 });
  for (const [page, table] of [
    [path.organization(org, "keys"), pageNames.keys],
    [path.operator("organizations"), operatorPageNames.organizations],
    [path.operator("requests"), operatorPageNames.requests],
  ] as const) {
    await operator.open(page);
    const row = rowsOf(operator, table).filter({ hasText: endless }).first();
    const { height = 0 } = (await row.boundingBox()) ?? {};
    expect({ page, isLow: height > 0 && height < 130 }).toEqual({ page, isLow: true });
    const name = row.getByTitle(endless).first();
    expect({ page, title: (await name.getAttribute("title"))?.startsWith(endless) }).toEqual({
      page,
      title: true,
    });
    const beyond = await operator.page
      .getByRole("region", { name: table, exact: true })
      .evaluate((box) => box.scrollWidth - box.clientWidth);
    expect({ page, beyond }).toEqual({ page, beyond: 0 });
  }
  await operator.leave();
});
