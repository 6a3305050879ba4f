// Activity in a browser: looking for one request, and watching requests arrive.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Locator } from "playwright-core";
import { exactMoney } from "../../dashboard/format/money.ts";
import { path } from "../../dashboard/path-builder.ts";
import { STEP_WORDS } from "../../src/domain/verification.ts";
import { ledgerTexts } from "../../dashboard/pages/activity/ledger-texts.ts";
import { activityTexts as words } from "../../dashboard/pages/activity/texts.ts";
import {
  activityStateNames,
  figureTexts,
  pageNames,
  spendFilterTexts,
  tableTexts,
} from "../../dashboard/components/texts.ts";
import type { Customer } from "../support/gateway.ts";
import { waitFor } from "../support/wait.ts";
import { type Dashboard, DESKTOP, NARROW, type Visitor } from "./dashboard.ts";
import { type Seeded, startSeeded } from "./fixture.ts";
import { inspect } from "./inspect.ts";
import { amountAt, rowsOf } from "./steps.ts";

let dashboard: Dashboard;
let seeded: Seeded;
let visitor: Visitor;
let customer: Customer;

beforeAll(async () => {
  ({ dashboard, seeded, visitor } = await startSeeded());
  const key = await dashboard.root.app("POST /orgs/{org}/keys", { org: seeded.org }, { name: "Watched" });
  customer = { organizationId: seeded.org, keyId: key.id, secret: key.secret ?? "" };
});
afterAll(() => dashboard.stop());

const openActivity = (query: string): Promise<boolean> =>
  visitor.open(`${path.organization(seeded.org, "activity")}?${query}`);
const rows = () => rowsOf(visitor, pageNames.activity);
const send = (more: object = {}) =>
  dashboard.gateway.chat(customer, {
    model: "plain-1",
    messages: [{ role: "user", content: "hi" }],
    ...more,
  });
const read = (query: string) =>
  dashboard.root.app("GET /orgs/{org}/activity", { org: seeded.org }, undefined, query);
const listed = async (query: string) => (await read(query)).data;

test("an id is found whatever time is chosen", async () => {
  const [newest] = await listed("?limit=1");
  await openActivity(`from=2020-01-01T00:00:00Z&to=2020-01-02T00:00:00Z&find=${newest?.id}`);
  await waitFor(async () => (await rows().count()) === 1, "the row of the id");
  expect(visitor.complained()).toEqual([]);
});

test("the live tail is in the address and respects the filter", async () => {
  await openActivity("live=true&state=refused&key=" + customer.keyId);
  expect(await rows().count()).toBe(0);
  await send();
  await send({ max_tokens: 0 });
  await waitFor(async () => (await rows().count()) > 0, "the refused row");
  expect(await rows().filter({ hasText: activityStateNames.settled }).count()).toBe(0);
  expect(await rows().filter({ hasText: activityStateNames.refused }).count()).toBe(1);
});

test("a hidden tab does not follow, and catches up when it becomes visible", async () => {
  await openActivity("live=true");
  const before = await rows().count();
  const { page } = visitor;
  const isTail = (request: { url(): string }): boolean => request.url().includes("/activity/tail");
  const show = (state: "hidden" | "visible"): Promise<unknown> =>
    page.evaluate<unknown>(
      `Object.defineProperty(document, "visibilityState", { value: "${state}", configurable: true });
       document.dispatchEvent(new Event("visibilitychange"))`,
    );
  await Promise.all([page.waitForEvent("requestfailed", isTail), show("hidden")]);
  await send();
  await Promise.all([page.waitForRequest(isTail), show("visible")]);
  await waitFor(async () => (await rows().count()) === before + 1, "the row of meanwhile");
});

test("a reader who has scrolled down keeps their place; new rows are counted until they want them", async () => {
  await visitor.resize({ width: 1280, height: 360 });
  await openActivity("live=true");
  const before = await rows().count();
  await visitor.page.mouse.wheel(0, 300);
  await waitFor(() => visitor.page.evaluate<boolean>("window.scrollY > 40"), "the page further down");
  await send();
  const waiting = visitor.page.getByRole("button", { name: words.waiting("1"), exact: true });
  await waiting.waitFor();
  expect(await rows().count()).toBe(before);
  expect(await visitor.axe()).toEqual([]);
  await waiting.click();
  await waitFor(async () => (await rows().count()) === before + 1, "the new row");
  await visitor.resize({ width: 1280, height: 860 });
  expect(visitor.complained()).toEqual([]);
});

test("a key is chosen by its name, a bar of the histogram opens its hour, and one button clears the filters", async () => {
  await send();
  await send({ max_tokens: 0 });
  // Starts on a page of older rows: choosing anything there shows the newest row first.
  const { next_cursor: before } = await read("?range=24h&limit=1");
  expect(before).not.toBeNull();
  await openActivity(`range=24h&before=${before}`);
  const { page } = visitor;
  const all = await rows().count();
  await page.getByRole("combobox", { name: spendFilterTexts.key }).click();
  await page.getByRole("option", { name: "Watched", exact: true }).click();
  await page.waitForURL(/key=key_/);
  expect(page.url()).not.toContain("before=");
  const mine = (await listed(`?key=${customer.keyId}`)).length;
  await waitFor(async () => (await rows().count()) === mine, "the rows of the key");
  expect(mine).toBeLessThan(all);
  const title = `${words.histogram}, ${figureTexts.buckets.hour}`;
  const figure = page.getByRole("img", { name: title });
  expect(await figure.getAttribute("aria-label")).toContain(activityStateNames.refused);
  const bar = figure.locator(".recharts-bar-rectangle path").last();
  await bar.hover();
  await bar.click();
  await page.waitForURL(/from=.*T/);
  await page.getByRole("button", { name: tableTexts.clear }).click();
  await page.waitForURL((url) => !url.searchParams.has("key"));
  // Previous rows are dimmed and announced as such; the check is about the final page.
  await waitFor(async () => (await page.locator("main [aria-busy=true]").count()) === 0, "the rows of now");
  expect(await visitor.axe()).toEqual([]);
  await visitor.resize(NARROW);
  expect(await visitor.overflow()).toBeLessThanOrEqual(0);
  await visitor.resize(DESKTOP);
  expect(visitor.complained()).toEqual([]);
});

test("columns are chosen by each person and stay chosen; a row is one line, and a short page does not jump while it comes", async () => {
  await openActivity("range=24h");
  const { page } = visitor;
  expect(await page.getByRole("columnheader", { name: words.columns.id }).count()).toBe(0);
  await page.getByRole("button", { name: words.chooseColumns, exact: true }).click();
  await page.getByRole("checkbox", { name: words.columns.id }).check();
  await page.getByRole("checkbox", { name: words.columns.total }).uncheck();
  expect(await visitor.axe()).toEqual([]);
  await openActivity("range=24h");
  await page.getByRole("columnheader", { name: words.columns.id }).waitFor();
  expect(await page.getByRole("columnheader", { name: words.columns.total }).count()).toBe(0);
  const heights = await rows().evaluateAll((found) => found.map((row) => row.getBoundingClientRect().height));
  expect(Math.max(...heights)).toBeLessThanOrEqual(42);
  const shifted = await page.evaluate<number>(`new Promise((resolve) => {
    let sum = 0;
    new PerformanceObserver((list) => list.getEntries().forEach((entry) => (sum += entry.value))).observe({
      type: "layout-shift", buffered: true });
    setTimeout(() => resolve(sum), 100);
  })`);
  expect(shifted).toBeLessThanOrEqual(0.1);
  expect(await visitor.overflow()).toBeLessThanOrEqual(0);
  expect(visitor.complained()).toEqual([]);
});

/** From now on the page records each text that it parses as a time: every rendered row parses one of its own. */
const TIMES_READ = `window.timesRead = [];
  window.Date = class extends Date {
    constructor(...from) { super(...from); if (typeof from[0] === "string") timesRead.push(from[0]); }
  };`;

test("opening a drawer draws no row of the list again", async () => {
  await send();
  await openActivity("range=24h");
  const { page } = visitor;
  const times = (of: Locator): Promise<string[]> =>
    of.locator("time").evaluateAll((all) => all.map((one) => one.getAttribute("datetime") ?? ""));
  const [first, ...others] = await times(rows());
  expect(others.length).toBeGreaterThan(1);
  await page.evaluate(TIMES_READ);
  await rows().first().getByRole("link").click();
  await page.getByRole("dialog").getByRole("region", { name: words.timeline }).waitFor();
  const read = await page.evaluate<string[]>("timesRead");
  expect(read).toContain(first ?? "");
  expect(others.filter((at) => at !== first && read.includes(at))).toEqual([]);
});

test("the drawer of a refusal says which field decided, and gives the request to send again", async () => {
  await send({ max_tokens: 0 });
  const [row] = await listed("?limit=1");
  await openActivity(`req=${row?.id}`);
  const drawer = visitor.page.getByRole("dialog");
  const decided = drawer.getByRole("region", { name: words.decided });
  expect(await decided.innerText()).toContain(`${words.figures.param}\tmax_tokens`);
  await drawer.getByRole("button", { name: words.copyCurl }).waitFor();
  const again = drawer.getByRole("link", { name: words.inPlayground });
  expect(await again.getAttribute("href")).toContain("model=plain-1");
  expect(await visitor.axe()).toEqual([]);
  expect(visitor.complained()).toEqual([]);
});

test("the drawer of a released request says what was held, that it came back, who paid, and what to do", async () => {
  dashboard.gateway.simulator.behave({ behaviour: { status: 400 }, calls: 1 });
  await send();
  const [row] = await listed("?limit=1");
  expect(row).toMatchObject({ state: "released", code: "provider_error" });
  await openActivity(`req=${row?.id}`);
  const drawer = visitor.page.getByRole("dialog");
  const cost = drawer.getByRole("region", { name: words.cost });
  expect(await amountAt(cost, words.held)).toBe(exactMoney(row?.hold_usd ?? ""));
  expect(await amountAt(cost, words.returned)).toBe(exactMoney(row?.hold_usd ?? ""));
  await drawer.getByText(words.next).waitFor();
  await drawer.getByText(/the platform pays|Nobody is charged/).waitFor();
  expect(await visitor.axe()).toEqual([]);
});

test("the drawer gives the signed receipt as a file, verifies the charge here, and leads to its ledger entries and back", async () => {
  await send();
  const [row] = await listed("?limit=1");
  await openActivity(`req=${row?.id}`);
  const [file] = await Promise.all([
    visitor.page.waitForEvent("download"),
    visitor.page.getByRole("link", { name: words.receipt }).click(),
  ]);
  const path = await file.path();
  const { id, jws } = (await Bun.file(path).json()) as { id: string; jws: string };
  expect([id, jws.split(".").length]).toEqual([row?.id ?? "", 3]);
  // Verified by the browser itself; then the gateway's answer is changed in transit, by a nano-dollar.
  const { page } = visitor;
  await page.getByRole("button", { name: ledgerTexts.verify }).click();
  await page.getByText(ledgerTexts.verdicts.holds).waitFor();
  await page.route("**/evidence", async (route) => {
    const answer = await route.fetch();
    const charged = row?.charge_usd ?? "";
    const more = charged.slice(0, -1) + String((Number(charged.at(-1)) + 1) % 10);
    await route.fulfill({ response: answer, body: (await answer.text()).replaceAll(charged, more) });
  });
  await page.getByRole("button", { name: ledgerTexts.again }).click();
  await page.getByText(ledgerTexts.verdicts.broken).waitFor();
  await page.getByText(STEP_WORDS.arithmetic.broken).waitFor();
  await page.getByText(STEP_WORDS.entries.broken).waitFor();
  expect(await visitor.axe()).toEqual([]);
  await page.unroute("**/evidence");
  // To its entry in the ledger, and from there back to it.
  await page.getByRole("region", { name: ledgerTexts.title }).getByRole("link").nth(1).click();
  const entry = page.getByRole("dialog");
  await entry.getByRole("link", { name: row?.id ?? "" }).click();
  await page.getByRole("button", { name: ledgerTexts.verify }).waitFor();
  expect(new URL(page.url()).searchParams.get("req")).toBe(row?.id ?? "");
  await visitor.page.getByRole("region", { name: words.route }).getByText(words.digest).waitFor();
  expect(visitor.complained()).toEqual([]);
});

test("a paid request lists its replays: how long each waited, that they were free, and what they had to match", async () => {
  const key = { "idempotency-key": "told-of-repeats-1" };
  const ask = { model: "plain-1", messages: [{ role: "user", content: "hi" }] };
  const paid = await dashboard.gateway.chat<{ gateway: { request_id: string } }>(customer, ask, key);
  await dashboard.gateway.chat(customer, ask, key);
  await openActivity(`req=${paid.json.gateway.request_id}`);
  const part = visitor.page.getByRole("region", { name: words.idempotency });
  await part.getByText(words.contentHash).waitFor();
  expect(await part.getByText(words.replayed).innerText()).toMatch(/, waited \d+ ms, \$0\.00$/);
  expect(await part.innerText()).toMatch(/content hash [0-9a-f]{64}/);
  const raw = visitor.page.getByRole("region", { name: words.raw });
  expect(await raw.getByText(words.answerKept).innerText()).toMatch(/, until \S+/);
  expect(await raw.getByText(words.notStored).count()).toBe(0);
  await inspect(visitor, "a paid request with repeats");
});

test("a search that finds nothing goes on by itself for ten pages, says how far back it looked, and goes on at a press", async () => {
  const [newest] = await listed("?limit=1");
  if (newest === undefined) throw new Error("there are no requests");
  const cursors: string[] = [];
  const cursorOf = (page: number): string => `req_${page.toString(16).padStart(32, "0")}`;
  await visitor.page.route(/\/app\/v1\/.*\/activity\?.*model=rare/, async (route) => {
    cursors.push(new URL(route.request().url()).searchParams.get("cursor") ?? "");
    const page = cursors.length;
    const found = page === 13;
    const searched_to = found ? null : new Date(Date.UTC(2026, 0, 31 - page)).toISOString();
    const json = { data: found ? [newest] : [], next_cursor: found ? null : cursorOf(page), searched_to };
    await route.fulfill({ json });
  });
  await openActivity("model=rare");
  const status = visitor.page.getByRole("status").filter({ hasText: words.searchedTo("").slice(0, 16) });
  await status.waitFor();
  expect(cursors).toEqual(["", ...Array.from({ length: 9 }, (_, n) => cursorOf(n + 1))]);
  expect(await status.innerText()).toContain("21 Jan");
  expect(await rows().count()).toBe(0);
  await visitor.page.getByRole("button", { name: words.further }).click();
  await waitFor(async () => (await rows().count()) === 1, "the row of the thirteenth page");
  expect(cursors).toHaveLength(13);
  expect(await status.count()).toBe(0);
  await visitor.page.unrouteAll();
});

/** The successive row counts of the table: `rowsSeen`. */
const ROWS_SEEN = `
  window.rowsSeen = [];
  new MutationObserver(() => {
    const rows = document.querySelectorAll("main tbody tr").length;
    if (rows > 0 && rows !== rowsSeen.at(-1)) rowsSeen.push(rows);
  }).observe(document, { childList: true, subtree: true });`;

// The last one: every page after it would have its rows, and take the longer.
test("the chart is requested together with the rows, and the rows that fill the screen are rendered before those below", async () => {
  const inAll = async (): Promise<number> => (await listed("?range=7d&limit=100")).length;
  const many = (await inAll()) + 30;
  await Promise.all(Array.from({ length: 30 }, () => send()));
  await waitFor(async () => (await inAll()) === many, "all of the rows in the store"); // some are written after their answer
  const mine = visitor;
  visitor = await dashboard.visitor(seeded.owner);
  try {
    await visitor.page.addInitScript(ROWS_SEEN);
    const asked: string[] = [];
    visitor.page.on("request", (request) => {
      const [, name = "other"] = /\/orgs\/[^/]+\/([^?]+)/.exec(request.url()) ?? [];
      asked.push(name);
    });
    await openActivity("range=7d");
    await waitFor(async () => (await rows().count()) === many, "all of the rows");
    // The filters' own choices are loaded when they are rendered.
    expect(asked.indexOf("activity/histogram")).toBeGreaterThan(asked.indexOf("activity"));
    expect(asked.indexOf("activity/histogram")).toBeLessThan(asked.indexOf("models"));
    expect(asked.filter((name) => name === "activity/histogram")).toHaveLength(1);
    const seen = await visitor.page.evaluate<number[]>("rowsSeen");
    expect(seen.at(-1)).toBe(many);
    expect(seen[0]).toBeLessThan(30);
  } finally {
    await visitor.leave();
    visitor = mine;
  }
});
