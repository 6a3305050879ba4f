// A developer's day: a key, a call, what it cost, a limit that stops it, an admin who raises it on the key's page,
// limits its rate, pauses, replaces and revokes it. The pages show what the ledger and the provider's bill say.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Locator } from "playwright-core";
import { path } from "../../../dashboard/path-builder.ts";
import { activityTexts as activity } from "../../../dashboard/pages/activity/texts.ts";
import { billingTexts } from "../../../dashboard/pages/billing/texts.ts";
import {
  activityStateNames,
  dialogTexts,
  pageNames,
  rateTexts,
  secretTexts,
} from "../../../dashboard/components/texts.ts";
import { keysTexts as keys } from "../../../dashboard/pages/keys/texts.ts";
import { overviewTexts } from "../../../dashboard/pages/overview/texts.ts";
import { usageTexts } from "../../../dashboard/pages/usage/texts.ts";
import type { NanoUsd } from "../../../src/domain/money.ts";
import { newMember } from "../../support/browser.ts";
import type { Customer, Reply } from "../../support/gateway.ts";
import { clearOfTheTurn, DAY_MS, TURN_PATIENCE_MS } from "../../support/wait.ts";
import { type Dashboard, startDashboard, type Visitor } from "../dashboard.ts";
import { amountOf, exact, nano } from "../figures.ts";
import { amountAt, closeSecret, createKey, findRequest, newOrganization, rowsOf } from "../steps.ts";

const one = keys.one;
const NAME = "Nightly batch";
const LIMIT = "0.0008";
const CALLS_AT_MOST = 12;

interface Answer {
  gateway: { request_id: string; cost: { customer_charge_usd: number } };
  error: { code: string; request_id: string };
}

// `every-role.test.ts` covers what these pages read from PostgreSQL.
describe.each(["sqlite"] as const)("on %s", (store) => {
  let dashboard: Dashboard;
  let org: string;
  let dora: Visitor;
  let ada: Visitor;
  let customer: Customer;
  const charges: NanoUsd[] = [];

  beforeAll(async () => {
    await clearOfTheTurn(DAY_MS);
    dashboard = await startDashboard({ store });
    org = await newOrganization(dashboard, "Acme");
    for (const role of ["developer", "admin"] as const)
      await newMember(dashboard.root, dashboard.gateway, { org, role, email: `${role}@example.com` });
    [dora, ada] = await Promise.all([
      dashboard.visitor("developer@example.com"),
      dashboard.visitor("admin@example.com"),
    ]);
  }, TURN_PATIENCE_MS);
  afterAll(() => dashboard.stop());

  const button = (name: string, within: Locator | Visitor["page"] = ada.page): Locator =>
    within.getByRole("button", { name, exact: true });

  async function call(): Promise<Reply<Answer>> {
    const reply = await dashboard.gateway.chat<Answer>(customer, ask());
    if (reply.status === 200) charges.push(chargeOf(reply));
    return reply;
  }

  test("a key is made on the page; its secret is read there once and nowhere later", async () => {
    const { page } = dora;
    await dora.open(path.organization(org, "keys"));
    const secret = await createKey(dora, { name: NAME, limit: LIMIT });
    await page.keyboard.press("Escape");
    expect(await page.getByText(secret, { exact: true }).isVisible()).toBe(true);
    await closeSecret(dora);
    const kept = "JSON.stringify([{...localStorage}, {...sessionStorage}, location.href, document.cookie])";
    for (const look of ["closed", "reloaded"]) {
      expect({ look, there: (await page.content()).includes(secret) }).toEqual({ look, there: false });
      expect(await page.evaluate<string>(kept)).not.toContain(secret);
      await dora.open(path.organization(org, "keys"));
    }
    expect(await rowsOf(dora, pageNames.keys).allInnerTexts()).toEqual([expect.stringContaining(NAME)]);
    const [key] = (await dashboard.root.app("GET /orgs/{org}/keys", { org })).data;
    customer = { organizationId: org, keyId: key?.id ?? "", secret };
  });

  test("a call with it is in Activity at exactly the cost that its answer named, drawer included", async () => {
    const reply = await call();
    expect(reply.status).toBe(200);
    const charge = chargeOf(reply);
    const row = await findRequest(dora, org, reply.json.gateway.request_id);
    expect(await row.innerText()).toContain(NAME);
    expect(await row.getByTitle(exact(charge), { exact: true }).count()).toBe(1);
    await row.getByRole("link").first().click();
    const drawer = dora.page.getByRole("dialog");
    await drawer.getByText(reply.json.gateway.request_id, { exact: true }).waitFor();
    const ofKey = drawer.getByRole("link", { name: NAME, exact: true });
    expect(await ofKey.getAttribute("href")).toBe(path.key(org, customer.keyId));
    const cost = drawer.getByRole("region", { name: activity.cost });
    const at = async (label: string | RegExp): Promise<bigint> => amountOf(await amountAt(cost, label));
    const sum = (await at(/^Input:/)) + (await at(/^Output:/));
    expect(await at(activity.sum)).toBe(sum);
    expect(await at(activity.charged)).toBe(charge);
    expect(sum).toBe(charge);
    expect(await at(activity.returned)).toBe((await at(activity.held)) - charge);
  });

  test("calls go on until the limit refuses one, which is a row that cost nothing", async () => {
    let refused = await call();
    for (let n = 0; n < CALLS_AT_MOST && refused.status === 200; n++) refused = await call();
    expect([refused.status, refused.json.error.code]).toEqual([403, "key_spend_limit_reached"]);
    expect(sumOf(charges)).toBeGreaterThanOrEqual(nano(LIMIT));
    expect(sumOf(charges.slice(0, -1))).toBeLessThan(nano(LIMIT));
    const row = await findRequest(dora, org, refused.json.error.request_id);
    const text = await row.innerText();
    for (const part of [activityStateNames.refused, "key_spend_limit_reached", "$0.00"])
      expect(text).toContain(part);
    await dora.open(path.organization(org, "keys"));
    expect(await rowsOf(dora, pageNames.keys).first().innerText()).toContain(keys.stateLimit);
  });

  test("its row leads to its page: what it was refused stands in a chart, and is mended right there", async () => {
    await ada.open(path.organization(org, "keys"));
    await rowsOf(ada, pageNames.keys).first().getByRole("link", { name: NAME }).click();
    await ada.arrived(NAME);
    const { page } = ada;
    expect(page.url()).toEndWith(path.key(org, customer.keyId));
    await page.getByText(`…${customer.secret.slice(-4)}`).waitFor();
    await page.getByText(keys.stateLimit).first().waitFor();
    const chart = page.getByRole("img", { name: new RegExp(one.refusedOverTime) });
    expect(await chart.getAttribute("aria-label")).toContain(
      "1 in all, 7 days; most by key_spend_limit_reached (1)",
    );
    await page.getByRole("img", { name: new RegExp(one.spendByModel) }).waitFor();
    expect(await rowsOf(ada, usageTexts.table).first().getByRole("cell").last().innerText()).toBe(
      exact(sumOf(charges)),
    );
    const cause = rowsOf(ada, overviewTexts.refusals).first();
    expect(await cause.innerText()).toContain("key_spend_limit_reached");
    await button(keys.edit, cause).click();
    const dialog = page.getByRole("dialog", { name: keys.editTitle(NAME) });
    expect(await dialog.getByLabel(keys.limit).inputValue()).toBe(LIMIT);
    await dialog.getByLabel(keys.limit).fill("1");
    await dialog.getByLabel(keys.dayLimit).fill("2");
    await dialog.getByLabel(keys.models).first().click();
    await page.getByRole("option", { name: "plain-1", exact: true }).click();
    await dialog.getByLabel(keys.output).fill("64");
    await button(dialogTexts.save, dialog).click();
    await dialog.waitFor({ state: "hidden" });
    await page.getByRole("region", { name: one.limits }).getByText(one.day, { exact: true }).waitFor();
    expect((await call()).status).toBe(200);
  });

  test("an admin limits its rate for one model on its page: it refuses, and lifted it refuses no more", async () => {
    await ada.page.getByRole("combobox", { name: rateTexts.model }).click();
    await ada.page.getByRole("option", { name: ask().model, exact: true }).click();
    const field = ada.page.getByLabel(rateTexts.dimensions.requests_per_minute);
    const holds = ada.page.getByText(rateTexts.ofYourOwn("1"));
    const set = async (rate: string, state: "visible" | "detached"): Promise<void> => {
      await field.fill(rate);
      await button(dialogTexts.save).click();
      await holds.waitFor({ state });
    };
    await set("1", "visible");
    const replies = [await call(), await call()];
    expect(replies.map(({ status }) => status).at(-1)).toBe(429);
    await set("", "detached");
    expect((await call()).status).toBe(200);
  });

  test("an admin pauses it there: the next call is 401 until it is resumed", async () => {
    const state = (name: string): Promise<void> =>
      ada.page.getByText(name, { exact: true }).first().waitFor();
    for (const act of ["pause", "resume"] as const) {
      await button(keys[act]).click();
      const dialog = ada.page.getByRole("dialog", { name: keys[`${act}Title`](NAME) });
      await button(keys[act], dialog).click();
      await state(keys.states[act === "pause" ? "paused" : "active"]);
      const reply = await call();
      expect(reply.status).toBe(act === "pause" ? 401 : 200);
      if (act === "pause") expect(reply.json.error.code).toBe("api_key_paused");
    }
  });

  test("replaced there, it leads to its successor and back; whoever did not make that one changes nothing of it", async () => {
    const { page } = ada;
    await button(keys.replace).click();
    await button(keys.replace, page.getByRole("dialog", { name: keys.replaceTitle(NAME) })).click();
    const secret = await page
      .getByRole("dialog", { name: secretTexts.title })
      .getByText(/^gw_sk_/)
      .first()
      .innerText();
    await closeSecret(ada);
    await page.getByRole("link", { name: `${NAME} …${secret.slice(-4)}` }).click();
    await page.getByText(one.neverUsed).waitFor();
    const heir = page.url();
    const served = await dashboard.gateway.chat<Answer>({ ...customer, secret }, ask());
    expect(served.status).toBe(200);
    charges.push(chargeOf(served));
    await dora.open(new URL(heir).pathname);
    await dora.page.getByText(one.replaces).waitFor();
    for (const act of [keys.edit, keys.pause, keys.replace, keys.revoke])
      expect(await dora.page.getByRole("button", { name: act, exact: true }).count()).toBe(0);
    await page.getByRole("link", { name: `${NAME} …${customer.secret.slice(-4)}` }).click();
    await page.waitForURL(({ pathname }) => pathname === path.key(org, customer.keyId));
  });

  test("an admin revokes it by typing its name, and the next call is 401; its page stays, with nothing to do", async () => {
    await button(keys.revoke).click();
    const dialog = ada.page.getByRole("dialog", { name: keys.revokeTitle(NAME) });
    const revoke = button(keys.revokeAction(NAME), dialog);
    await dialog.getByRole("textbox").fill(NAME.toUpperCase());
    expect(await revoke.isDisabled()).toBe(true);
    await dialog.getByRole("textbox").fill(NAME);
    await revoke.click();
    await dialog.waitFor({ state: "hidden" });
    const ended = await call();
    expect([ended.status, ended.json.error.code]).toEqual([401, "api_key_revoked"]);
    await ada.page.getByText(keys.states.revoked, { exact: true }).first().waitFor();
    expect(await button(keys.edit).count()).toBe(0);
    await ada.open(path.organization(org, "keys"));
    await ada.page.getByText(keys.revokedHidden(1)).waitFor();
  });

  test("the balance, the ledger and the provider's bill tell the same story", async () => {
    const { gateway } = dashboard;
    await gateway.assertSound();
    const spent = sumOf(charges);
    expect((await gateway.balance(customer)).available).toBe((nano("5") - spent) as NanoUsd);
    const bill = gateway.simulator.bill();
    expect(bill.map(({ outcome, billed }) => [outcome, billed])).toEqual(
      charges.map(() => ["finished", true]),
    );
    const nanoPerToken = 2000;
    expect(
      bill.map(({ prompt_tokens, completion_tokens }) =>
        BigInt((prompt_tokens + completion_tokens) * nanoPerToken),
      ),
    ).toEqual(charges);
    await ada.open(path.organization(org, "billing"));
    const line = ada.page.locator("b", { hasText: billingTexts.isAvailable });
    expect(await line.first().innerText()).toContain(exact(nano("5") - spent));
    expect([dora.complained(), ada.complained()]).toEqual([[], []]);
  });
});

const ask = () => {
  const content = "Sort these words by length. ".repeat(20);
  return { model: "plain-1", messages: [{ role: "user", content }], max_tokens: 64 };
};
const chargeOf = ({ json }: Reply<Answer>): NanoUsd => nano(json.gateway.cost.customer_charge_usd.toFixed(9));
const sumOf = (charges: readonly NanoUsd[]): bigint => charges.reduce<bigint>((sum, one) => sum + one, 0n);
