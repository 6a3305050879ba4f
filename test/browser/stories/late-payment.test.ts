// Returning from the payment service before its event has arrived: the page says what it waits for, and shows the
// credits when they arrive, without a reload (dashboard.md 5).
import { afterAll, beforeAll, expect, test } from "bun:test";
import { path } from "../../../dashboard/path-builder.ts";
import { billingTexts as words } from "../../../dashboard/pages/billing/texts.ts";
import { dialogTexts } from "../../../dashboard/components/texts.ts";
import type { FakeStripeEvent } from "../../../src/payments/fake-stripe/account.ts";
import { FakeStripe } from "../../../src/payments/fake-stripe/server.ts";
import { newMember } from "../../support/browser.ts";
import { waitFor } from "../../support/wait.ts";
import { type Dashboard, startDashboard, type Visitor } from "../dashboard.ts";
import { newOrganization, rowsOf } from "../steps.ts";

const WEBHOOK_SECRET = "whsec_of_the_test";
const MINUTE = "01:05";

let dashboard: Dashboard;
let org: string;
let bill: Visitor;
let webhookUrl = "";
const fakeStripe = new FakeStripe({ webhookSecret: WEBHOOK_SECRET, webhookUrl: () => webhookUrl });

beforeAll(async () => {
  dashboard = await startDashboard({
    configure: (config) => {
      const stripe = { secretKey: "sk_test_1", webhookSecret: WEBHOOK_SECRET, apiUrl: fakeStripe.url };
      Object.assign(config.payments, { driver: "stripe", stripe });
    },
  });
  webhookUrl = `${dashboard.gateway.url}/webhooks/stripe`;
  org = await newOrganization(dashboard, "Acme");
  const at = { org, role: "billing", email: "bill@example.com" } as const;
  await newMember(dashboard.root, dashboard.gateway, at);
  bill = await dashboard.visitor(at.email);
  await bill.page.clock.install();
});
afterAll(async () => {
  await dashboard.stop();
  await fakeStripe.stop();
});

/** Orders and pays at the service; its event is delayed. The browser returns. */
async function payAndReturn(usd: string): Promise<FakeStripeEvent> {
  const { page } = bill;
  await bill.open(path.organization(org, "billing"));
  await page.getByRole("button", { name: words.add, exact: true }).click();
  const dialog = page.getByRole("dialog", { name: words.add });
  await dialog.getByLabel(words.amount).fill(usd);
  await dialog.getByRole("button", { name: words.pay }).click();
  await page.waitForURL((url) => url.origin === fakeStripe.url);
  const session = fakeStripe.session(page.url());
  const event = fakeStripe.paid(session);
  await page.goto(session.success_url);
  await bill.settled();
  return event;
}

const rows = (): Promise<number> => rowsOf(bill, words.ledger).count();

test("the page waits for the confirmation, and shows the credits and their row when it comes", async () => {
  const { page } = bill;
  const event = await payAndReturn("25");
  await page.getByText(words.waiting("$25.00")).waitFor();
  expect(await rows()).toBe(1);
  await page.reload();
  await page.getByText(words.waiting("$25.00")).waitFor();
  expect(await dashboard.gateway.ledger.balance(org)).toMatchObject({ available: 5_000_000_000n });
  for (const status of [200, 200]) expect((await fakeStripe.deliver(event)).status).toBe(status);
  await page.getByText(words.arrived("$25.00")).waitFor();
  await page.getByText("$30.00").first().waitFor();
  await waitFor(async () => (await rows()) === 2, "the row of the payment");
  expect(await bill.axe()).toEqual([]);
  await page.getByRole("button", { name: dialogTexts.close }).click();
  await page.getByText(words.arrived("$25.00")).waitFor({ state: "hidden" });
  expect(new URL(page.url()).search).toBe("");
});

test("after a minute it says that nothing is lost, with the order to name; the credits still come", async () => {
  const { page } = bill;
  const event = await payAndReturn("7");
  await page.getByText(words.waiting("$7.00")).waitFor();
  const order = new URL(page.url()).searchParams.get("order") ?? "";
  await page.clock.fastForward(MINUTE);
  await page.getByText(words.late(order)).waitFor();
  await fakeStripe.deliver(event);
  await page.clock.fastForward("00:05");
  await page.getByText(words.arrived("$7.00")).waitFor();
  expect(await dashboard.gateway.ledger.balance(org)).toMatchObject({ available: 37_000_000_000n });
  expect(bill.complained({ about: /^another host/ })).toEqual([]);
});

test("another organization's order is not shown", async () => {
  await bill.open(`${path.organization(org, "billing")}?order=ord_unknown`);
  await bill.page.getByRole("alert").waitFor();
  expect(bill.complained({ about: /status of 404/ })).toEqual([]);
});
