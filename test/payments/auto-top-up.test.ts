// Automatic top-ups as stories: a low balance, a declined card, a lost answer, a monthly cap. Rounds are run by hand; the
// clock is the test's.
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { nanoUsd } from "../../src/contract/money.ts";
import type { AutoTopUp } from "../../src/payments/auto-top-up-book.ts";
import { NEWEST } from "../../src/store/page.ts";
import { testClock } from "../support/clock.ts";
import { type Paying, startPaying } from "./paying.ts";

const HOUR_MS = 3_600_000;
const clock = testClock();
let paying: Paying;
let org: string;
beforeAll(async () => {
  clock.set("2031-03-02T00:00:00Z");
  paying = await startPaying(clock);
});
afterAll(async () => {
  await paying.gateway.assertSound();
  await paying.stop();
});
beforeEach(async () => {
  paying.double.charging = "succeed";
  org = (await paying.gateway.customer({ usd: "0" })).organizationId;
});

const usd = (dollars: number) => nanoUsd(BigInt(dollars) * 1_000_000_000n);
const wish = async (terms: Partial<AutoTopUp> = {}) => {
  const { automatic } = paying.gateway.payments;
  const wished = {
    organizationId: org,
    enabled: true,
    threshold: usd(20),
    amount: usd(25),
    monthlyCap: usd(60),
    ...terms,
  };
  return await automatic.set(wished, await automatic.find(org));
};
const state = () => paying.gateway.payments.automatic.find(org);
const failures: unknown[] = [];
const round = () => paying.gateway.payments.runAutomatic((error) => failures.push(error));
const orders = async () => (await paying.gateway.payments.orders.page(org, NEWEST, { limit: 20 })).rows;
/** Ten dollars on the account, and a card on file. */
async function keepCard(): Promise<void> {
  const { session } = await paying.order(org, "10", { keepCard: true });
  await paying.double.deliver(paying.double.paid(session));
}

test("a balance below the threshold is topped up by the card that was kept, once", async () => {
  await keepCard();
  expect(await paying.gateway.payments.orders.method(org)).toMatchObject({ label: "visa •••• 4242" });
  await wish();
  await round();
  await round();
  expect(await paying.available(org)).toBe(35);
  const [order] = await orders();
  expect(order).toMatchObject({ purpose: "auto_top_up", state: "credited", amount: usd(25) });
  // The event that follows finds it credited.
  const payment = paying.double.account.payments.get(order?.paymentId ?? "");
  const event = paying.double.event("payment_intent.succeeded", payment ?? {});
  expect(await (await paying.double.deliver(event)).json()).toMatchObject({ outcome: "repeated" });
  expect(await paying.available(org)).toBe(35);
});

test("a card that nobody agreed to keep is not kept, and nothing is charged", async () => {
  const { session } = await paying.order(org, "10");
  await paying.double.deliver(paying.double.paid(session));
  await wish({ threshold: usd(21) });
  await round();
  expect(await state()).toMatchObject({
    lastFailure: expect.stringContaining("no saved card"),
    nextTryAtMs: null,
  });
  // A card is kept: it tries again by itself.
  await keepCard();
  await round();
  expect([await paying.available(org), (await state())?.lastFailure]).toEqual([45, null]);
});

test("off is off, and enough is enough", async () => {
  await keepCard();
  await wish({ enabled: false });
  await round();
  await wish({ threshold: usd(10) });
  await round();
  expect(await paying.available(org)).toBe(10);
});

test("a declined card says why, is tried after 1, 6 and 24 hours, then waits for a person", async () => {
  await keepCard();
  await wish();
  paying.double.charging = "decline";
  const charges = () => paying.double.calls.filter((call) => call === "POST /v1/payment_intents").length;
  const before = charges();
  for (const hours of [1, 6, 24]) {
    await round();
    await round();
    expect(await state()).toMatchObject({
      lastFailure: "Your card has insufficient funds.",
      nextTryAtMs: expect.closeTo(clock.nowMs() + hours * HOUR_MS, -4),
    });
    clock.advance(hours * HOUR_MS + 1000);
  }
  await round();
  expect(await state()).toMatchObject({ failures: 4, nextTryAtMs: null });
  clock.advance(100 * HOUR_MS);
  await round();
  expect(charges() - before).toBe(4);
  expect((await orders()).filter(({ state: now }) => now === "failed")).toHaveLength(4);
  paying.double.charging = "succeed";
  await paying.gateway.payments.automatic.retry(org, clock.nowMs());
  await round();
  expect([await paying.available(org), (await state())?.lastFailure]).toEqual([35, null]);
});

test("a charge whose answer was lost is asked again under the same order, and charged once", async () => {
  await keepCard();
  await wish();
  paying.double.charging = "hang_up";
  await round();
  expect(await state()).toMatchObject({ lastFailure: expect.stringContaining("Stripe did not take") });
  expect([await paying.available(org), (await orders())[0]?.state]).toEqual([10, "open"]);
  paying.double.charging = "succeed";
  clock.advance(61_000);
  await round();
  expect([await paying.available(org), (await state())?.lastFailure]).toEqual([35, null]);
  const charged = [...paying.double.account.payments.values()].filter(
    ({ metadata, amount }) => metadata["organization"] === org && amount === 2500,
  );
  expect(charged).toHaveLength(1);
});

test("a charge under way is neither repeated nor counted; its event ends it either way", async () => {
  await keepCard();
  await wish();
  paying.double.charging = "pending";
  await round();
  await round();
  const [order] = await orders();
  expect([order?.state, await paying.available(org)]).toEqual(["open", 10]);
  const payment = paying.double.account.payments.get(order?.sessionId ?? "");
  const declined = paying.double.event("payment_intent.payment_failed", {
    ...payment,
    last_payment_error: { message: "Your bank said no." },
  });
  await paying.double.deliver(declined);
  expect(await state()).toMatchObject({ lastFailure: "Your bank said no.", failures: 1 });
  clock.advance(HOUR_MS + 1000);
  await round();
  const [second] = await orders();
  const late = paying.double.account.payments.get(second?.sessionId ?? "");
  const paid = { ...late, status: "succeeded", amount_received: 2500 };
  await paying.double.deliver(paying.double.event("payment_intent.succeeded", paid));
  expect([await paying.available(org), (await state())?.lastFailure]).toEqual([35, null]);
});

test("the monthly cap holds, and a new month begins at zero", async () => {
  await keepCard();
  await wish({ threshold: usd(100) });
  for (let count = 0; count < 4; count++) await round();
  expect(await paying.available(org)).toBe(60);
  const capped = await state();
  expect(capped?.lastFailure).toBe("The monthly cap of $60.00 is reached.");
  expect(new Date(capped?.nextTryAtMs ?? 0).toISOString()).toMatch(/-01T00:00:00.000Z$/);
  clock.set(new Date(capped?.nextTryAtMs ?? 0).toISOString());
  await round();
  expect(await paying.available(org)).toBe(85);
});

test("nothing of it waits in a request, and nothing failed unseen", () => {
  expect(failures).toEqual([]);
});
