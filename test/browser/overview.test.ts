// The overview: every figure links to what is behind it.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Answer } from "../../dashboard/api/routes.ts";
import { path } from "../../dashboard/path-builder.ts";
import { overviewTexts as words } from "../../dashboard/pages/overview/texts.ts";
import { pageNames } from "../../dashboard/components/texts.ts";
import { usageTexts } from "../../dashboard/pages/usage/texts.ts";
import { PLAIN } from "../support/models.ts";
import { edit } from "../support/versions.ts";
import { clearOfTheTurn, DAY_MS, HOUR_MS, TURN_PATIENCE_MS, waitFor } from "../support/wait.ts";
import { type Dashboard, DESKTOP, NARROW, PHONE, type Visitor } from "./dashboard.ts";
import { type Seeded, startSeeded } from "./fixture.ts";
import { WIDER } from "./fitting.ts";
import { rowsOf } from "./steps.ts";

let dashboard: Dashboard;
let seeded: Seeded;
let visitor: Visitor;

beforeAll(async () => {
  await clearOfTheTurn(DAY_MS);
  ({ dashboard, seeded, visitor } = await startSeeded());
}, TURN_PATIENCE_MS);
afterAll(() => dashboard.stop());

const openOverview = (): Promise<boolean> => visitor.open(path.organization(seeded.org, "overview"));

test("every tile is a link, and so is the first cell of every table", async () => {
  await openOverview();
  const { page } = visitor;
  expect(await page.locator(".tile").count()).toBe(8);
  expect(await page.locator("a.tile").count()).toBe(8);
  for (const table of [words.topModels, words.topKeys, words.refusals, words.routes]) {
    const rows = rowsOf(visitor, table);
    expect(await rows.count()).toBeGreaterThan(0);
    expect(await rows.first().getByRole("cell").first().getByRole("link").count()).toBeGreaterThan(0);
  }
  expect(await visitor.axe()).toEqual([]);
  await visitor.resize(NARROW);
  expect(await visitor.overflow()).toBeLessThanOrEqual(0);
  await visitor.resize(DESKTOP);
});

test("aligned amounts widen no table beyond a phone: columns that do not fit are folded", async () => {
  const { page } = visitor;
  const asked = "**/overview?*";
  await page.route(asked, async (route) => {
    const response = await route.fetch();
    const of: Answer<"GET /orgs/{org}/overview"> = await response.json();
    const [one] = of.top_keys;
    if (one === undefined) throw new Error("no key has spent");
    const top_keys = [
      { ...one, key: "key_1", name: "batch", requests: 774, charge_usd: "10.32", percent: "+2600.0" },
      {
        ...one,
        key: "key_2",
        name: "Support assistant",
        requests: 200,
        charge_usd: "1.64",
        percent: "+26.0",
      },
      { ...one, key: "key_3", name: "Search index", requests: 86, charge_usd: "0.0018", percent: "+125.0" },
    ];
    await route.fulfill({ response, json: { ...of, top_keys } });
  });
  await visitor.resize(PHONE);
  await openOverview();
  await rowsOf(visitor, words.topKeys).getByText("Support assistant").waitFor();
  expect((await page.evaluate<string>(WIDER)).split(",")).not.toContain(words.topKeys);
  // A reader of the last column of a table that is too wide anyway stays there when it is measured again.
  await page.addStyleTag({ content: ".table-scroll table { min-width: 700px }" });
  const keys = page.getByRole("region", { name: words.topKeys, exact: true });
  const scrolled = () => keys.evaluate(({ scrollLeft }: { scrollLeft: number }) => scrollLeft);
  // It can be scrolled as soon as the page has measured that it is wider.
  await waitFor(async () => {
    await keys.evaluate((frame: { scrollBy(x: number, y: number): void }) => frame.scrollBy(500, 0));
    return (await scrolled()) > 0;
  }, "the table to scroll");
  const before = await scrolled();
  await visitor.resize({ ...PHONE, width: PHONE.width - 2 });
  expect(await scrolled()).toBeGreaterThanOrEqual(before);
  await page.unroute(asked);
  await visitor.resize(DESKTOP);
});

test("a refusal's code opens the requests that were refused with it", async () => {
  await openOverview();
  await rowsOf(visitor, words.refusals).first().getByRole("link").click();
  await visitor.page.waitForURL(/code=integer_below_min_value/);
  const rows = rowsOf(visitor, pageNames.activity);
  await waitFor(async () => (await rows.count()) === 1, "the refused row");
  expect(visitor.complained()).toEqual([]);
});

const fail = (error: unknown): never => {
  throw error;
};

test("what needs attention names its target: a key at its limit opens its page, a triggered rule opens the alerts", async () => {
  const { org } = seeded;
  const keys = await dashboard.root.app("GET /orgs/{org}/keys", { org });
  const batch = keys.data.find(({ name }) => name === "Nightly batch");
  await edit(
    dashboard.root,
    "PATCH /orgs/{org}/keys/{key}",
    { org, key: batch?.id ?? "" },
    {
      limit_usd: "0.000000001",
    },
  );
  const { url } = dashboard.gateway;
  const made = await fetch(`${url}/app/v1/orgs/${org}/alerts/rules`, {
    method: "POST",
    headers: { cookie: await visitor.cookie(), origin: url, "content-type": "application/json" },
    body: JSON.stringify({ kind: "balance_below", amount_usd: "100000", channels: [], on: true }),
  });
  expect(made.status).toBe(201);
  await dashboard.gateway.services.alerts.watch(fail); // a round that otherwise happens every 15 s
  const attention = async () => (await dashboard.root.app("GET /orgs/{org}/overview", { org })).attention;
  await waitFor(async () => (await attention()).some(({ kind }) => kind === "alert_holds"), "the rule");
  await openOverview();
  await visitor.page.getByRole("link", { name: /has reached its monthly limit/ }).click();
  await visitor.page.waitForURL(({ pathname }) => pathname === path.key(org, batch?.id ?? ""));
  await visitor.arrived("Nightly batch");
});

test("a day unlike the others says whose it is and leads to what was held for it; a release that ends soon is told of", async () => {
  const { org } = seeded;
  const { page } = visitor;
  const { data: keys } = await dashboard.root.app("GET /orgs/{org}/keys", { org });
  const batch = keys.find(({ name }) => name === "Nightly batch")?.id ?? "";
  const hour = Math.floor(Date.now() / HOUR_MS);
  for (let ago = 0; ago <= 8; ago++)
    await dashboard.gateway.tamper(
      `INSERT INTO usage_hour (org_id, key_id, model, hour, requests, input_tokens, cached_tokens, output_tokens, charge)
       VALUES ('${org}', ?1, 'base-preview-v1', ${hour - 24 * ago}, 3, 1000, 0, 10, ${ago === 0 ? 8_000_000_000 : 500_000_000})`,
      batch,
    );
  await dashboard.gateway.publish({ ...PLAIN, version: 2 }, { expiresInMs: 30 * HOUR_MS });
  await openOverview();
  await page.getByRole("link", { name: /^The release of plain-1@.* ends in 29 h/ }).waitFor();
  await page.getByRole("img", { name: new RegExp(words.spendByModel) }).waitFor();
  expect(await visitor.axe()).toEqual([]);
  await page
    .getByRole("link", { name: /^Today is 16\.0 × a normal day: \$8\.00 so far.*key Nightly batch/ })
    .click();
  await page.waitForURL(new RegExp(`usage\\?.*key=${batch}`));
  const held = rowsOf(visitor, usageTexts.holds.title);
  await waitFor(async () => (await held.count()) === 1, "what was held");
  expect(await held.first().innerText()).toMatch(/^plain-1\s/);
  const elsewhere = rowsOf(visitor, usageTexts.savings.title);
  await waitFor(async () => (await elsewhere.count()) > 1, "other models");
  expect(await visitor.axe()).toEqual([]);
  await visitor.resize(NARROW);
  expect(await visitor.overflow()).toBeLessThanOrEqual(0);
  await visitor.resize(DESKTOP);
  expect(visitor.complained()).toEqual([]);
});
