// Everything the dashboard was meant to do, tried by each role on PostgreSQL, in one browser:
// docs/design/dashboard.md §14 lists the points. Each has tests of its own elsewhere, mostly on the embedded store;
// this checks that they show the same figures from the other store, and to whom.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Locator } from "playwright-core";
import { path } from "../../../dashboard/path-builder.ts";
import { answerTexts, operatorPageNames, pageNames } from "../../../dashboard/components/texts.ts";
import { paletteTexts } from "../../../dashboard/palette/texts.ts";
import { ledgerTexts } from "../../../dashboard/pages/activity/ledger-texts.ts";
import { activityTexts } from "../../../dashboard/pages/activity/texts.ts";
import { statementTexts } from "../../../dashboard/pages/billing/statement-texts.ts";
import { keysTexts } from "../../../dashboard/pages/keys/texts.ts";
import { modelsTexts } from "../../../dashboard/pages/models/texts.ts";
import { operatorHomeTexts } from "../../../dashboard/pages/operator/home/texts.ts";
import { overviewTexts } from "../../../dashboard/pages/overview/texts.ts";
import { usageTexts } from "../../../dashboard/pages/usage/texts.ts";
import { type Browser, newMember } from "../../support/browser.ts";
import { type Customer, hello, type Reply } from "../../support/gateway.ts";
import { MODELS, PLAIN, pricing } from "../../support/models.ts";
import { clearOfTheTurn, DAY_MS, HOUR_MS, TURN_PATIENCE_MS, waitFor } from "../../support/wait.ts";
import { type Dashboard, DESKTOP, OPERATOR, PHONE, startDashboard, type Visitor } from "../dashboard.ts";
import { exact, nano } from "../figures.ts";
import { amountAt, newOrganization, rowsOf } from "../steps.ts";

const BATCH = "Nightly batch";
const LIMIT = "0.0008";
const FIRST = "first-of-the-night-1";
/** The only one that costs more than the others. */
const DEAR = { ...PLAIN, model: "dear-1", pricing: { ...pricing, output_per_million: "9" } };
const OTHERS = "Basalt Labs";
const ADDRESSES = {
  billing: "bea@example.com",
  developer: "dora@example.com",
  admin: "ada@example.com",
  operator: OPERATOR,
} as const;
type Role = keyof typeof ADDRESSES;
const ROLES = Object.keys(ADDRESSES) as Role[];

interface Answer {
  gateway: { request_id: string; cost: { customer_charge_usd: number } };
  error: { request_id: string };
}

let dashboard: Dashboard;
let visitor: Visitor;
let org: string;
let others: string;
let batch: Customer;
/** What the ledger charged, and a request of each kind. */
let charged = 0n;
let paid: string;
let paidCharge = 0n;
let refused: string;
let calls = 0;

async function call(of: Customer, key: string = crypto.randomUUID()): Promise<Reply<Answer>> {
  const content = "Sort these words by length. ".repeat(20);
  const body = { ...hello(), messages: [{ role: "user", content }], max_tokens: 64 };
  return await dashboard.gateway.chat<Answer>(of, body, { "idempotency-key": key });
}

const chargeOf = ({ json }: Reply<Answer>): bigint => nano(json.gateway.cost.customer_charge_usd.toFixed(9));

async function keyBy(
  person: Browser,
  at: string,
  terms: { name: string; limit_usd?: string },
): Promise<Customer> {
  const { id, secret } = await person.app("POST /orgs/{org}/keys", { org: at }, terms);
  return { organizationId: at, keyId: id, secret: secret ?? "" };
}

beforeAll(async () => {
  await clearOfTheTurn(DAY_MS);
  dashboard = await startDashboard({ store: "postgres", models: [...MODELS, DEAR] });
  const { root, gateway } = dashboard;
  org = await newOrganization(dashboard, "Acme Robotics");
  others = await newOrganization(dashboard, OTHERS);
  const member = (role: "billing" | "developer" | "admin"): Promise<Browser> =>
    newMember(root, gateway, { org, role, email: ADDRESSES[role] });
  const [, dora] = [await member("billing"), await member("developer"), await member("admin")];
  await call(await keyBy(root, others, { name: "Theirs" }));
  batch = await keyBy(dora, org, { name: BATCH, limit_usd: LIMIT });
  // Until the limit refuses one; the first is repeated.
  for (let reply = await call(batch, FIRST); ; reply = await call(batch)) {
    if (reply.status !== 200) {
      expect(reply.status).toBe(403);
      refused = reply.json.error.request_id;
      break;
    }
    calls += 1;
    paid = reply.json.gateway.request_id;
    paidCharge = chargeOf(reply);
    charged += paidCharge;
  }
  expect((await call(batch, FIRST)).status).toBe(200);
  // A day unlike the eight before it, for a key that made no requests: it is only in the roll-ups.
  const spare = await keyBy(root, org, { name: "Spare" });
  const hour = Math.floor(Date.now() / HOUR_MS);
  for (let ago = 0; ago <= 8; ago++)
    await gateway.tamper(
      `INSERT INTO usage_hour (org_id, key_id, model, hour, requests, input_tokens, cached_tokens, output_tokens, charge)
       VALUES ('${org}', ?1, 'base-preview-v1', ${hour - 24 * ago}, 3, 1000, 0, 10, ${ago === 0 ? 8_000_000_000 : 500_000_000})`,
      spare.keyId,
    );
  await gateway.publish({ ...PLAIN, version: 2 }, { expiresInMs: 30 * HOUR_MS });
  visitor = await dashboard.visitor();
}, TURN_PATIENCE_MS);
afterAll(() => dashboard.stop());

describe.each(ROLES)("%s", (role) => {
  const operates = role === "operator";

  // In one browser, one after the other, so that the pages' code is loaded and compiled once.
  beforeAll(async () => {
    await visitor.page.goto("about:blank");
    await visitor.beSignedIn(ADDRESSES[role]);
    await visitor.open(path.organization(org, "settings"));
  });

  const rows = (table: string): Locator => rowsOf(visitor, table);
  const count = (of: Locator, wanted: number): Promise<void> =>
    waitFor(async () => (await of.count()) === wanted, `${wanted} rows`);
  const link = (name: RegExp | string): Locator => visitor.page.getByRole("link", { name });
  /** As a link does it: without a reload. */
  const at = (page: keyof typeof pageNames, query = ""): Promise<void> =>
    visitor.go(path.organization(org, page) + query, pageNames[page]);
  /** The drawer of a request, which hides the page under it. */
  async function drawerOf(request: string): Promise<Locator> {
    const address = `${path.organization(org, "activity")}?req=${request}`;
    await visitor.page.evaluate<void>(`history.pushState(null, "", ${JSON.stringify(address)})`);
    const drawer = visitor.page.getByRole("dialog");
    await drawer.getByText(request, { exact: true }).waitFor();
    return drawer;
  }
  async function find(text: string): Promise<Locator> {
    await visitor.page.keyboard.press("Control+k");
    const palette = visitor.page.getByRole("dialog", { name: paletteTexts.title });
    await palette.getByRole("combobox").fill(text);
    return palette;
  }

  test("1 · Activity: every request, each on one line with its model", async () => {
    if (operates) await visitor.go(path.operator("requests"), operatorPageNames.requests);
    else await at("activity");
    const all = rows(operates ? operatorPageNames.requests : pageNames.activity);
    await count(all, calls + (operates ? 3 : 2));
    expect(await all.filter({ hasText: PLAIN.model }).count()).toBe(await all.count());
    expect(await all.filter({ hasText: OTHERS }).count()).toBe(operates ? 1 : 0);
    expect(await all.filter({ hasText: "key_spend_limit_reached" }).count()).toBe(1);
    const heights = await all.evaluateAll((found) => found.map((row) => row.getBoundingClientRect().height));
    expect(Math.max(...heights)).toBeLessThanOrEqual(42);
  });

  test("2 · Drawer of a refusal: the limit, what it would have held, the way to mend it", async () => {
    const drawer = await drawerOf(refused);
    const decided = await drawer.getByRole("region", { name: activityTexts.decided }).innerText();
    for (const [name, figure] of [
      [activityTexts.figures.limit_usd, exact(nano(LIMIT))],
      [activityTexts.figures.spent_usd, exact(charged)],
    ])
      expect(decided).toContain(`${name}\t${figure}`);
    await drawer.getByText(activityTexts.wouldHold).first().waitFor();
    const way = drawer.getByRole("link", { name: answerTexts.next.key });
    expect(await way.getAttribute("href")).toBe(path.key(org, batch.keyId));
    await way.click();
    await visitor.arrived(BATCH);
  });

  test("3 · Overview: spend by model, a day unlike the others, what ends and what is at its limit", async () => {
    await at("overview");
    await visitor.page.getByRole("img", { name: new RegExp(overviewTexts.spendByModel) }).waitFor();
    await link(/^Today is 16\.0 × a normal day: \$8\.00 so far.*key Spare/).waitFor();
    await link(/^The release of plain-1@.* ends in 29 h/).waitFor();
    await link(new RegExp(`^${BATCH} has reached its monthly limit`)).waitFor();
  });

  test("4 · Money is linked: a charge verified here leads to its entry, and the month adds up to the ledger", async () => {
    const { page } = visitor;
    const drawer = await drawerOf(paid);
    const cost = drawer.getByRole("region", { name: activityTexts.cost });
    expect(await amountAt(cost, activityTexts.charged)).toBe(exact(paidCharge));
    await drawer.getByRole("button", { name: ledgerTexts.verify }).click();
    await drawer.getByText(ledgerTexts.verdicts.holds).waitFor();
    const entries = drawer.getByRole("region", { name: ledgerTexts.title }).getByRole("link");
    if (role === "developer") {
      expect(await entries.count()).toBe(0); // of Billing they see only the balance
      return;
    }
    await entries.last().click();
    await page.getByRole("dialog").getByRole("link", { name: paid }).waitFor();
    await at("billing", `?statement=${new Date().toISOString().slice(0, 7)}`);
    const sums = page.getByRole("table", { name: statementTexts.sums }).getByRole("row");
    const closing = (await dashboard.gateway.balance(batch)).available;
    expect<bigint>(closing).toBe(nano("5") - charged);
    expect(await sums.last().innerText()).toContain(exact(closing));
  });

  test("5 · Holds: what a key's requests held beside what they were charged", async () => {
    await at("usage");
    const held = rows(usageTexts.holds.title);
    await count(held, 1);
    await held.getByTitle(exact(charged), { exact: true }).waitFor();
  });

  test("8 · What it saved: the repeat that was answered for nothing, and what other models would have cost", async () => {
    await visitor.page.getByText(usageTexts.savings.replays("1")).waitFor();
    const elsewhere = rows(usageTexts.savings.title);
    await waitFor(async () => (await elsewhere.count()) > 1, "other models");
  });

  test("6 · Page of a key: what it spent and was refused, its last four characters, its limit", async () => {
    const { page } = visitor;
    await visitor.go(path.key(org, batch.keyId), BATCH);
    await page.getByText(`…${batch.secret.slice(-4)}`).waitFor();
    await page.getByRole("img", { name: new RegExp(keysTexts.one.spendByModel) }).waitFor();
    const chart = page.getByRole("img", { name: new RegExp(keysTexts.one.refusedOverTime) });
    expect(await chart.getAttribute("aria-label")).toContain("most by key_spend_limit_reached (1)");
    expect(await rows(usageTexts.table).first().getByRole("cell").last().innerText()).toBe(exact(charged));
    const mayEdit = role !== "billing";
    expect((await page.getByRole("button", { name: keysTexts.edit, exact: true }).count()) > 0).toBe(mayEdit);
  });

  test("7 · Operator's home: traffic and providers for who operates, and nobody else's name for the others", async () => {
    if (operates) {
      await visitor.go(path.operator("home"), operatorPageNames.home);
      const tile = visitor.page.locator(".tile").filter({ hasText: operatorHomeTexts.requests });
      expect(await tile.innerText()).toContain(String(calls + 1));
      const provider = rows(operatorHomeTexts.providers).filter({ hasText: "simulator" });
      expect(await provider.innerText()).toContain("live");
      await link(/^plain-1@/)
        .first()
        .waitFor();
    } else await visitor.go(path.operator("home"), pageNames.overview); // redirected home
    const searched = visitor.page.waitForResponse((answer) => answer.url().includes("/search?"));
    const palette = await find(OTHERS);
    const { data } = (await (await searched).json()) as { data: unknown[] };
    expect(data).toHaveLength(operates ? 1 : 0);
    if (operates) await palette.getByRole("option", { name: new RegExp(`^${OTHERS}`) }).waitFor();
    await visitor.page.keyboard.press("Escape");
  });

  test("9 · ⌘K finds a request by its id; the log tells in sentences", async () => {
    const palette = await find(paid);
    await palette.getByRole("option", { name: new RegExp(`^${paid}`) }).click();
    await visitor.page.waitForURL((url) => url.searchParams.get("req") === paid);
    await visitor.page.getByRole("dialog").getByText(paid, { exact: true }).waitFor();
    await at("audit");
    await waitFor(async () => (await rows(pageNames.audit).count()) > 0, "a line of the log");
    const lines = rows(pageNames.audit).filter({
      hasText: `created the standard key ${BATCH} with a monthly`,
    });
    expect(await lines.count()).toBe(role === "billing" ? 0 : 1); // they see what concerns money
  });

  test("10 · Look: models by their price, and a phone keeps what a row is and its amount", async () => {
    await at("models");
    await visitor.page.getByRole("button", { name: modelsTexts.prices.output }).click();
    await visitor.page.waitForURL(/sort=-output-1-m/);
    const models = await rows(pageNames.models).locator("td:first-child a").allInnerTexts();
    expect(models[0]).toBe(DEAR.model);
    await at("activity");
    await visitor.resize(PHONE);
    expect(await visitor.overflow()).toBeLessThanOrEqual(0);
    const row = rows(pageNames.activity).filter({ hasNotText: "key_spend_limit_reached" }).last();
    expect(await row.getByRole("link").first().isVisible()).toBe(true);
    expect(await row.getByTitle(exact(paidCharge), { exact: true }).isVisible()).toBe(true);
    await visitor.resize(DESKTOP);
    expect(visitor.complained({ about: /status of 403/ })).toEqual([]);
  });
});
