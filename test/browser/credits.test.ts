// The operator's credits: the effect of a grant before it is made, orders that wait for their money, events of
// payment services; each for one organization or for all.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Locator } from "playwright-core";
import { path } from "../../dashboard/path-builder.ts";
import { today } from "../../dashboard/format/time.ts";
import { entryKindNames } from "../../dashboard/components/entry-kinds.ts";
import { dialogTexts } from "../../dashboard/components/texts.ts";
import { activityTexts } from "../../dashboard/pages/activity/texts.ts";
import { statementTexts } from "../../dashboard/pages/billing/statement-texts.ts";
import { operatorCreditsTexts as words } from "../../dashboard/pages/operator/credits/texts.ts";
import { FakeStripe } from "../../src/payments/fake-stripe/server.ts";
import { type Browser, newMember } from "../support/browser.ts";
import { hello } from "../support/gateway.ts";
import { reads } from "../support/wait.ts";
import { type Dashboard, DESKTOP, OPERATOR, startDashboard, type Visitor } from "./dashboard.ts";
import { WIDER } from "./fitting.ts";
import { inspect } from "./inspect.ts";

const WEBHOOK_SECRET = "whsec_of_the_test";

let byHand: Dashboard;
let visitor: Visitor;
let owner: Browser;
let org: string;

beforeAll(async () => {
  byHand = await startDashboard({
    configure: (config) => Object.assign(config.payments, { driver: "manual" }),
  });
  ({ org, owner } = await customer(byHand, "Acme"));
  await customer(byHand, "Basalt");
  visitor = await byHand.visitor(OPERATOR);
});
afterAll(() => byHand.stop());

async function customer(of: Dashboard, name: string): Promise<{ org: string; owner: Browser }> {
  const { id } = await of.root.app("POST /operator/organizations", {}, { name });
  const at = { org: id, role: "owner", email: `${name.toLowerCase()}@example.com` } as const;
  return { org: id, owner: await newMember(of.root, of.gateway, at) };
}

const button = (name: string): Locator => visitor.page.getByRole("button", { name, exact: true });
const field = (name: string): Locator => visitor.page.getByRole("dialog").getByLabel(name, { exact: true });
const openCredits = (query: string): Promise<boolean> => visitor.open(`${path.operator("credits")}${query}`);
const available = async (): Promise<string> =>
  (await owner.app("GET /orgs/{org}/billing", { org })).available_usd;

async function choose(name: string): Promise<void> {
  await visitor.page.getByRole("dialog").getByRole("combobox", { name: words.org }).click();
  await visitor.page.getByRole("option", { name, exact: true }).click();
}

async function fillGrant(usd: string, reference: string): Promise<void> {
  await openCredits("");
  await button(words.grant).first().click();
  await choose("Acme");
  await field(words.amount).fill(usd);
  await field(words.reference).fill(reference);
  await field(words.reason).fill("agreed by mail");
}

test("a grant shows the balance before and after; once it is done there is nothing to cancel", async () => {
  await fillGrant("25", "grant-1");
  const preview = visitor.page.getByRole("dialog").getByRole("status");
  await reads(() => preview.innerText(), `${words.available} $0.00, ${words.after} $25.00`);
  await visitor.page.getByRole("dialog").getByRole("button", { name: words.grant, exact: true }).click();
  await visitor.page.getByText(words.credited).waitFor();
  expect(await available()).toBe("25.000000000");
  expect(await button(dialogTexts.cancel).count()).toBe(0);
  expect(await visitor.axe()).toEqual([]);
  await visitor.page.getByRole("dialog").getByText(dialogTexts.close, { exact: true }).click();
  await visitor.page.getByRole("dialog").waitFor({ state: "hidden" });
  await reads(() => visitor.page.getByRole("cell", { name: "grant-1" }).count(), 1);
});

test("a large grant asks for the name of the organization", async () => {
  await fillGrant("1000", "grant-2");
  const act = visitor.page.getByRole("dialog").getByRole("button", { name: words.grant, exact: true });
  expect(await act.isDisabled()).toBe(true);
  await field(words.largeHelp("Acme")).fill("Basalt");
  expect(await act.isDisabled()).toBe(true);
  await field(words.largeHelp("Acme")).fill("Acme");
  await act.click();
  await visitor.page.getByText(words.credited).waitFor();
  expect(await available()).toBe("1025.000000000");
});

test("an order paid by hand waits until an operator confirms the money", async () => {
  const order = await owner.app("POST /orgs/{org}/billing/orders", { org }, { amount_usd: "10" });
  await openCredits("?show=orders");
  await visitor.page.getByText(order.id).waitFor();
  await button(words.confirm).click();
  const act = visitor.page.getByRole("dialog").getByRole("button", { name: words.confirm, exact: true });
  expect(await act.isDisabled()).toBe(true);
  await visitor.page.getByRole("dialog").getByRole("textbox").fill("Acme");
  await act.click();
  await visitor.page.getByRole("dialog").waitFor({ state: "hidden" });
  await visitor.page.getByText("credited", { exact: true }).waitFor();
  expect(await button(words.confirm).count()).toBe(0);
  expect(await available()).toBe("1035.000000000");
  expect(await visitor.axe()).toEqual([]);
  expect(visitor.complained()).toEqual([]);
});

test("one organization alone, kept in the address", async () => {
  await openCredits(`?org=${org}`);
  expect(await visitor.page.getByRole("row").count()).toBe(4);
  const [file] = await Promise.all([
    visitor.page.waitForEvent("download"),
    visitor.page.getByRole("link", { name: words.csv }).click(),
  ]);
  expect(file.suggestedFilename()).toBe(`credits-${org}.csv`);
  expect((await Bun.file(await file.path()).text()).trimEnd().split("\r\n")).toHaveLength(4);
  await visitor.page.getByRole("combobox", { name: words.org }).click();
  await visitor.page.getByRole("option", { name: "Basalt", exact: true }).click();
  await visitor.page.getByText(words.empty).waitFor();
  await visitor.page.reload();
  await visitor.page.getByText(words.empty).waitFor();
});

test("a request is refunded by its id, never more than is left", async () => {
  const { gateway } = byHand;
  const answer = await gateway.chat<{ gateway: { request_id: string } }>(await gateway.key(org), hello());
  const request = answer.json.gateway.request_id;
  const { charge } = await gateway.request(request);
  const before = await available();
  await openCredits("");
  await button(words.refund).click();
  await field(words.request).fill(request);
  await visitor.page.getByRole("dialog").getByText("Acme", { exact: true }).waitFor();
  await field(words.reference).fill("ticket-7");
  await field(words.reason).fill("wrong model answered");
  const act = visitor.page.getByRole("dialog").getByRole("button", { name: words.refund, exact: true });
  await field(words.amount).fill("1");
  expect(await act.isDisabled()).toBe(true);
  await visitor.page.getByText(words.tooMuch).waitFor();
  await button(words.whole).click();
  await inspect(visitor, "a refund before it is made");
  await act.click();
  await visitor.page.getByText(words.refunded).waitFor();
  expect(BigInt((await available()).replace(".", "")) - BigInt(before.replace(".", ""))).toBe(charge);
  await visitor.page.getByRole("dialog").getByText(dialogTexts.close, { exact: true }).click();
  await visitor.page.getByRole("cell", { name: "ticket-7" }).waitFor();
});

test("an operator refunds from the request itself; nobody else is offered to", async () => {
  const { gateway } = byHand;
  const answer = await gateway.chat<{ gateway: { request_id: string } }>(await gateway.key(org), hello());
  const request = answer.json.gateway.request_id;
  const before = await available();
  const drawer = `${path.organization(org, "activity")}?req=${request}`;
  await visitor.open(drawer);
  await button(activityTexts.refund).click();
  const form = visitor.page.getByRole("dialog", { name: words.refundTitle });
  expect(await form.getByLabel(words.request, { exact: true }).inputValue()).toBe(request);
  await form.getByText("Acme", { exact: true }).waitFor();
  await form.getByLabel(words.amount, { exact: true }).fill("0.000000001");
  await form.getByLabel(words.reference, { exact: true }).fill("ticket-8");
  await form.getByLabel(words.reason, { exact: true }).fill("answered too late");
  await inspect(visitor, "a refund from the request's drawer");
  await form.getByRole("button", { name: words.refund, exact: true }).click();
  await visitor.page.getByText(words.refunded).waitFor();
  expect(BigInt((await available()).replace(".", "")) - BigInt(before.replace(".", ""))).toBe(1n);
  await form.getByText(dialogTexts.close, { exact: true }).click();
  await form.waitFor({ state: "hidden" });

  const member = await byHand.visitor("acme@example.com");
  await member.open(drawer);
  await member.page.getByRole("dialog").getByText(request, { exact: true }).waitFor();
  expect(await member.page.getByRole("button", { name: activityTexts.refund, exact: true }).count()).toBe(0);
  await member.page.getByText(activityTexts.refunded, { exact: true }).waitFor();
  await member.page.getByText(activityTexts.afterRefund, { exact: true }).waitFor();
  await member.page.getByRole("cell", { name: entryKindNames.refund, exact: true }).waitFor();
  await member.open(`${path.organization(org, "billing")}?statement=${today().slice(0, 7)}`);
  await member.page.getByRole("region", { name: statementTexts.movements }).getByText(request).waitFor();
  await member.leave();
});

test("one of many organizations is found by typing; the server searches", async () => {
  const many: { id: string; name: string }[] = [];
  for (let n = 0; n < 60; n++)
    many.push(await byHand.root.app("POST /operator/organizations", {}, { name: `Many ${n}` }));
  // In the order of the ids: this one is not on the first page.
  const { name } = many.toSorted((a, b) => (a.id < b.id ? 1 : -1))[0] ?? { name: "none" };
  await openCredits("");
  const select = visitor.page.getByRole("combobox", { name: words.org });
  const option = visitor.page.getByRole("option", { name, exact: true });
  await select.click();
  await visitor.page.getByRole("option", { name: /^Many/ }).first().waitFor();
  expect(await option.count()).toBe(0);
  await select.fill(name.toLowerCase());
  await option.click();
  await visitor.page.getByText(words.empty).waitFor();
  await reads(() => select.inputValue(), name);
  await visitor.page.reload();
  await visitor.page.getByText(words.empty).waitFor();
  await reads(() => select.inputValue(), name);
  expect(visitor.complained()).toEqual([]);
});

test("events of a payment service are listed with their outcomes", async () => {
  let webhookUrl = "";
  const fakeStripe = new FakeStripe({ webhookSecret: WEBHOOK_SECRET, webhookUrl: () => webhookUrl });
  const stripe = { secretKey: "sk_test_1", webhookSecret: WEBHOOK_SECRET, apiUrl: fakeStripe.url };
  const paid = await startDashboard({
    configure: (config) => Object.assign(config.payments, { driver: "stripe", stripe }),
  });
  try {
    webhookUrl = `${paid.gateway.url}/webhooks/stripe`;
    const { org: payer, owner: buyer } = await customer(paid, "Payer");
    const order = await buyer.app("POST /orgs/{org}/billing/orders", { org: payer }, { amount_usd: "25" });
    await fakeStripe.deliver(fakeStripe.paid(fakeStripe.session(order.pay_url ?? "")));
    const at = await paid.visitor(OPERATOR);
    await at.open(`${path.operator("credits")}?show=payments`);
    const row = at.page.getByRole("row").filter({ hasText: order.id });
    expect(await row.innerText()).toContain("Payer");
    expect(await row.innerText()).toContain("credited");
    expect(await at.axe()).toEqual([]);
    // Stripe's own event credits it: there is nothing to confirm by hand.
    await at.open(`${path.operator("credits")}?show=orders`);
    await at.page.getByText(order.id).waitFor();
    expect(await at.page.getByRole("button", { name: words.confirm }).count()).toBe(0);
  } finally {
    await paid.stop();
    await fakeStripe.stop();
  }
});

test("a long name without blanks pushes no amount off a tablet's screen", async () => {
  const name = "W".repeat(100);
  const { id } = await byHand.root.app("POST /operator/organizations", {}, { name });
  const paid = {
    org: id,
    amount_usd: "1000000000",
    kind: "purchase",
    reference: "R".repeat(200),
    reason: "r",
  };
  await byHand.root.app("POST /operator/credits", {}, paid);
  await visitor.resize({ width: 768, height: 1024 });
  await openCredits(`?org=${id}`);
  await visitor.page.getByRole("cell", { name }).waitFor();
  await reads(() => visitor.page.evaluate<string>(WIDER), ""); // once it has measured itself
  await visitor.resize(DESKTOP);
});
