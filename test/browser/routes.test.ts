// Routes and releases as an operator sees them: what expires when, what was published by whom, a publication that
// says which of its steps failed, and disabling a route, which needs a reason.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Locator } from "playwright-core";
import { path } from "../../dashboard/path-builder.ts";
import {
  circuitNames,
  dialogTexts,
  operatorPageNames,
  tableTexts,
} from "../../dashboard/components/texts.ts";
import { operatorRoutesTexts as words } from "../../dashboard/pages/operator/routes/texts.ts";
import { MODELS, PLAIN, PREVIEW_V1, PREVIEW_V2 } from "../support/models.ts";
import { type Dashboard, DESKTOP, OPERATOR, PHONE, startDashboard, type Visitor } from "./dashboard.ts";
import { inspect } from "./inspect.ts";
import { rowsOf } from "./steps.ts";

const ROUTE = `${PLAIN.model}@simulator/local`;
const HOUR_MS = 3_600_000;

let dashboard: Dashboard;
let root: Visitor;

beforeAll(async () => {
  dashboard = await startDashboard();
  root = await dashboard.visitor(OPERATOR);
});
afterAll(() => dashboard.stop());

const sign = (version: number, expiresInMs: number, nowMs = Date.now()): Promise<string> =>
  dashboard.gateway.sign({ ...PLAIN, version }, { expiresInMs, nowMs });
const open = (query = ""): Promise<boolean> => root.open(`${path.operator("routes")}${query}`);
const row = (): Locator => rowsOf(root, operatorPageNames.routes).filter({ hasText: PLAIN.model });
const dialog = (): Locator => root.page.getByRole("dialog");
const press = (name: string): Promise<void> => dialog().getByRole("button", { name, exact: true }).click();
async function choose(name: string): Promise<void> {
  await root.page.getByRole("button", { name: words.menu(ROUTE), exact: true }).click();
  await root.page.getByRole("menuitem", { name, exact: true }).click();
}

/** The states of the five steps, in order. */
async function steps(): Promise<string[]> {
  const lines = await dialog()
    .getByRole("list", { name: words.stepsLabel })
    .getByRole("listitem")
    .allInnerTexts();
  const states = Object.values(words.stepStates);
  return lines.map((line) => states.find((state) => line.trim().endsWith(state)) ?? line);
}

async function paste(jws: string): Promise<void> {
  await open();
  await root.page.getByRole("button", { name: words.publish, exact: true }).click();
  await dialog().getByLabel(words.jws).fill(jws);
}
async function refusedAt(jws: string): Promise<string[]> {
  await paste(jws);
  await press(words.verify);
  await dialog().getByRole("alert").waitFor();
  return await steps();
}

test("if there is less room, a route's prices and its release's expiry stay, rather than who signed it", async () => {
  await root.resize({ width: 900, height: 768 });
  await open();
  await row().waitFor();
  for (const title of [words.columns.price, words.columns.expires])
    expect(await root.page.getByRole("columnheader", { name: title, exact: true }).isVisible()).toBe(true);
  await root.resize(PHONE);
  const said = await row().first().getByRole("cell").first().innerText();
  expect(said).toMatch(/\$2\.00 \/ \$2\.00 per 1 M\s+expires in \d+ [a-z]+/);
  await root.resize(DESKTOP);
});

test("a release is published step by step, and goes live in the last one", async () => {
  const { passed, now, open: notYet } = words.stepStates;
  await paste(await sign(2, 12 * HOUR_MS));
  expect(await steps()).toEqual([now, notYet, notYet, notYet, notYet]);
  await press(words.verify);
  await dialog().getByText(words.verified(ROUTE, 2)).waitFor();
  expect(await steps()).toEqual([passed, passed, passed, passed, now]);
  await inspect(root, "a release before it is published");
  await press(words.publishVersion(2));
  await dialog().getByText(words.published(ROUTE, 2)).waitFor();
  expect(await steps()).toEqual([passed, passed, passed, passed, passed]);
  expect(await dialog().getByRole("status").innerText()).toContain("live");
  await dialog().getByText(dialogTexts.close, { exact: true }).click();
  expect(root.complained()).toEqual([]);
});

test("before a publication: each price before and after, what else changes, who used the model", async () => {
  const customer = await dashboard.gateway.customer();
  const body = { model: PLAIN.model, messages: [{ role: "user", content: "hello" }], max_tokens: 4 };
  expect((await dashboard.gateway.chat(customer, body)).status).toBe(200);
  const rates = { input_per_million: "4", cached_input_per_million: "0.4", output_per_million: "3" };
  const changed = {
    ...PLAIN,
    version: 3,
    context_window: 65_536,
    pricing: {
      ...PLAIN.pricing,
      input_per_million: "2.5",
      output_per_million: "1.5",
      tiers: [{ above_prompt_tokens: 32_000, ...rates }],
      service_tiers: { flex: "0.5" },
    },
    capabilities: { ...PLAIN.capabilities, tools: true },
  };
  await paste(await dashboard.gateway.sign(changed, { expiresInMs: 12 * HOUR_MS, nowMs: Date.now() }));
  await press(words.verify);
  const compared = (name: string): Locator =>
    dialog().getByRole("table", { name, exact: true }).locator("tbody tr");
  const prices = compared(words.prices);
  await prices.first().waitFor();
  const cells = async (row: Locator): Promise<string[]> => await row.getByRole("cell").allInnerTexts();
  const named = async (name: string): Promise<string[]> =>
    await cells(prices.filter({ hasText: name }).first());
  expect(await named(words.priceNames.input_per_million)).toEqual([
    words.priceNames.input_per_million,
    "2",
    "2.5",
    "+25.0 %",
  ]);
  expect((await named(words.priceNames.output_per_million)).slice(1)).toEqual(["2", "1.5", "-25.0 %"]);
  expect((await named(words.priceNames.request_minimum)).at(-1)).toBe(words.same);
  const long = words.above(words.priceNames.cached_input_per_million, "32,000");
  expect(await named(long)).toEqual([long, "0.2", "0.4", "+100.0 %"]);
  expect((await named(words.serviceTier("flex"))).slice(1)).toEqual(["1", "0.5", "-50.0 %"]);
  const others = (await compared(words.others).allInnerTexts()).join("\n");
  expect(others).toMatch(/context_window\s+131072\s+65536[\s\S]*capabilities\.tools\s+false\s+true/);
  const users = dialog().getByRole("list", { name: words.used(PLAIN.model) });
  expect(await users.innerText()).toMatch(/: 1 charged request$/);
  await inspect(root, "the difference of a release");
  expect(root.complained()).toEqual([]);
});

test("the failed step is marked: signature, version, expiry", async () => {
  const { passed, failed, open: notYet } = words.stepStates;
  const good = await sign(3, HOUR_MS);
  expect(await refusedAt(`${good.slice(0, -8)}AAAAAAAA`)).toEqual([failed, notYet, notYet, notYet, notYet]);
  expect(await root.axe()).toEqual([]);
  expect(await refusedAt(await sign(1, HOUR_MS))).toEqual([passed, failed, notYet, notYet, notYet]);
  const old = await sign(3, HOUR_MS, Date.now() - 2 * HOUR_MS);
  expect(await refusedAt(old)).toEqual([passed, passed, failed, notYet, notYet]);
  root.complained({ about: /status of 422/ });
});

test("the time left for a release is shown in words, in the row and by day", async () => {
  await dashboard.gateway.publish({ ...PREVIEW_V1, version: 2 }, { expiresInMs: 72 * HOUR_MS });
  await open();
  const routes = rowsOf(root, operatorPageNames.routes);
  expect(await row().innerText()).toContain(words.left.day);
  expect(await routes.filter({ hasText: PREVIEW_V1.model }).innerText()).toContain(words.left.week);
  expect(await routes.filter({ hasText: PREVIEW_V2.model }).innerText()).not.toContain("under");
  expect(await row().innerText()).toContain(circuitNames.closed);
  const days = rowsOf(root, words.calendar);
  expect(await days.first().innerText()).toContain(ROUTE);
  expect(await days.last().innerText()).not.toContain(ROUTE);
  await inspect(root, "routes that end soon");
});

test("the releases of a route by version and publisher, at an address that can be shared", async () => {
  await open();
  await choose(words.history);
  const published = rowsOf(root, words.historyOf(ROUTE));
  await published.first().waitFor();
  expect(await published.count()).toBe(2);
  expect(await published.first().innerText()).toMatch(/version 2[\s\S]*Root/);
  await inspect(root, "the releases of a route");
  await root.page.reload();
  await published.first().waitFor();
  await root.page.keyboard.press("Escape");
  await dialog().waitFor({ state: "hidden" });
  expect(new URL(root.page.url()).search).toBe("");
});

test("the trusted keys, each with the routes that it signed", async () => {
  const [key] = (await dashboard.root.app("GET /operator/trusted-keys")).data;
  await open();
  const keys = await rowsOf(root, words.trustedKeys).allInnerTexts();
  expect(keys).toHaveLength(1);
  expect(keys[0]).toContain(key?.id ?? "no key");
  expect(keys[0]).toContain(words.inUse(MODELS.length));
});

test("disabling a route needs a reason and its name", async () => {
  await open();
  await choose(words.disable);
  const act = dialog().getByRole("button", { name: words.disableAction(ROUTE), exact: true });
  await dialog().getByLabel(dialogTexts.typeName).fill(ROUTE);
  expect(await act.isDisabled()).toBe(true);
  await dialog().getByLabel(words.reason).fill("bad answers");
  await inspect(root, "disabling a route");
  await act.click();
  await row().getByText("bad answers").waitFor();
  expect(await row().innerText()).toContain("disabled");
  expect(await row().innerText()).not.toContain(circuitNames.closed);
  expect(root.complained()).toEqual([]);
});

test("routes can be searched: by words of their name, their tier or their reason, and by state", async () => {
  const shown = async (query: string): Promise<string[]> => {
    await open(query);
    const rows = rowsOf(root, operatorPageNames.routes).locator("td:first-child .name:first-child");
    return (await rows.allInnerTexts()).toSorted();
  };
  const all = await shown("");
  expect(all.length).toBeGreaterThan(1);
  expect(await shown(`?search=${PLAIN.model.toUpperCase()}%40`)).toEqual([PLAIN.model]);
  expect(await shown("?search=nobody")).toEqual([]);
  await root.page.getByRole("button", { name: tableTexts.clear }).click();
  await root.page.waitForURL((url) => url.search === "");
  expect(await shown("?state=disabled")).not.toEqual(all);
  await inspect(root, "routes in a state");
});
