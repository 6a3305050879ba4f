// Automatic top-ups as stories: a low balance, a declined card, a lost answer, a monthly cap. Rounds are run by hand;
// the clock is the test's.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { nanoUsd } from "../../src/domain/money.ts";
import type { AutoTopUp } from "../../src/payments/auto-top-up-book.ts";
import { NEWEST } from "../../src/store/page.ts";
import { testClock } from "../support/clock.ts";
import { drain, type Paying, startPaying } from "./paying.ts";

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
  paying.fakeStripe.charging = "succeed";
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
  await paying.fakeStripe.deliver(paying.fakeStripe.paid(session));
}

test("a balance below the threshold is topped up by the stored card, once", async () => {
  await keepCard();
  expect(await paying.gateway.payments.orders.method(org)).toMatchObject({ label: "visa •••• 4242" });
  await wish();
  await round();
  await round();
  expect(await paying.available(org)).toBe(35);
  const [order] = await orders();
  expect(order).toMatchObject({ purpose: "auto_top_up", state: "credited", amount: usd(25) });
  // The event that follows finds it credited.
  const payment = paying.fakeStripe.account.payments.get(order?.paymentId ?? "");
  const event = paying.fakeStripe.event("payment_intent.succeeded", payment ?? {});
  expect(await (await paying.fakeStripe.deliver(event)).json()).toMatchObject({ outcome: "repeated" });
  expect(await paying.available(org)).toBe(35);
});

test("a card that nobody agreed to store is not stored, and nothing is charged", async () => {
  const { session } = await paying.order(org, "10");
  await paying.fakeStripe.deliver(paying.fakeStripe.paid(session));
  await wish({ threshold: usd(21) });
  await round();
  expect(await state()).toMatchObject({
    lastFailure: expect.stringContaining("no saved card"),
    nextTryAtMs: null,
  });
  // A new card is stored: it is tried again automatically.
  await keepCard();
  await round();
  expect([await paying.available(org), (await state())?.lastFailure]).toEqual([45, null]);
});

test("nothing is charged while it is off, or while the balance is sufficient", async () => {
  await keepCard();
  await wish({ enabled: false });
  await round();
  await wish({ threshold: usd(10) });
  await round();
  expect(await paying.available(org)).toBe(10);
});

test("a declined card shows the reason, is retried after 1, 6 and 24 hours, then waits for a person", async () => {
  await keepCard();
  await wish();
  paying.fakeStripe.charging = "decline";
  const charges = () => paying.fakeStripe.calls.filter((call) => call === "POST /v1/payment_intents").length;
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
  paying.fakeStripe.charging = "succeed";
  await paying.gateway.payments.automatic.retry(org, clock.nowMs());
  await round();
  expect([await paying.available(org), (await state())?.lastFailure]).toEqual([35, null]);
});

test("a charge whose answer was lost is asked again under the same order, and charged once", async () => {
  await keepCard();
  await wish();
  paying.fakeStripe.charging = "hang_up";
  await round();
  expect(await state()).toMatchObject({ lastFailure: expect.stringContaining("The call to Stripe failed") });
  expect([await paying.available(org), (await orders())[0]?.state]).toEqual([10, "open"]);
  paying.fakeStripe.charging = "succeed";
  clock.advance(61_000);
  await round();
  expect([await paying.available(org), (await state())?.lastFailure]).toEqual([35, null]);
  const charged = [...paying.fakeStripe.account.payments.values()].filter(
    ({ metadata, amount }) =>
      metadata["organization"] === org && amount === 2500 && metadata["withdrawn"] === undefined,
  );
  expect(charged).toHaveLength(1);
});

test("a pending charge is neither repeated nor counted; its event ends it either way", async () => {
  await keepCard();
  await wish();
  paying.fakeStripe.charging = "pending";
  await round();
  await round();
  const [order] = await orders();
  expect([order?.state, await paying.available(org)]).toEqual(["open", 10]);
  const payment = paying.fakeStripe.account.payments.get(order?.sessionId ?? "");
  const declined = paying.fakeStripe.event("payment_intent.payment_failed", {
    ...payment,
    last_payment_error: { message: "Your bank said no." },
  });
  await paying.fakeStripe.deliver(declined);
  expect(await state()).toMatchObject({ lastFailure: "Your bank said no.", failures: 1 });
  clock.advance(HOUR_MS + 1000);
  await round();
  const [second] = await orders();
  const late = paying.fakeStripe.account.payments.get(second?.sessionId ?? "");
  const paid = { ...late, status: "succeeded", amount_received: 2500 };
  await paying.fakeStripe.deliver(paying.fakeStripe.event("payment_intent.succeeded", paid));
  expect([await paying.available(org), (await state())?.lastFailure]).toEqual([35, null]);
});

const charges = () =>
  [...paying.fakeStripe.account.payments.values()].filter(
    ({ metadata, amount }) => metadata["organization"] === org && amount === 2500,
  );
/** Takes back the last charge, so that the balance is low again. */
const takeBack = (): Promise<unknown> => drain(paying.gateway, org, usd(25));

test("the monthly cap applies, and a new month begins at zero", async () => {
  await keepCard();
  await wish({ threshold: usd(25) });
  for (let count = 0; count < 4; count++) {
    await round();
    if (count < 2) await takeBack();
  }
  expect([charges().length, await paying.available(org)]).toEqual([2, 10]);
  const capped = await state();
  expect(capped?.lastFailure).toBe("The monthly cap of $60.00 is reached.");
  expect(new Date(capped?.nextTryAtMs ?? 0).toISOString()).toMatch(/-01T00:00:00.000Z$/);
  clock.set(new Date(capped?.nextTryAtMs ?? 0).toISOString());
  await round();
  expect(await paying.available(org)).toBe(35);
});

test("a threshold above the amount, from before this was refused, is topped up to the amount and no further", async () => {
  await keepCard();
  await wish({ threshold: usd(1000), monthlyCap: null });
  for (let count = 0; count < 10; count++) await round();
  expect([charges().length, await paying.available(org)]).toEqual([1, 35]);
});

test("four charges in an hour and twenty in a day are the most, and it is said until when", async () => {
  await keepCard();
  await wish({ threshold: usd(25), monthlyCap: null });
  for (let hour = 1; charges().length < 20; hour++) {
    const before = charges().length;
    for (let count = 0; count < 6; count++) {
      await round();
      if (charges().length > before && count < 4) await takeBack();
    }
    expect(charges().length - before).toBe(4);
    const braked = await state();
    expect(braked?.lastFailure).toContain(
      charges().length < 20 ? "4 automatic top-ups are made in an hour" : "automatic top-ups are made in",
    );
    expect(braked?.nextTryAtMs).toBeLessThanOrEqual(clock.nowMs() + HOUR_MS);
    clock.advance(HOUR_MS + 1000);
  }
  for (let count = 0; count < 6; count++) await round();
  expect(charges()).toHaveLength(20);
  const braked = await state();
  expect(braked?.lastFailure).toContain("20 automatic top-ups are made in a day");
  // A manual retry does not bypass it.
  await paying.gateway.payments.retryAutomatic(org, { address: null, requestId: null });
  expect(charges()).toHaveLength(20);
  clock.set(new Date((braked?.nextTryAtMs ?? 0) + 1000).toISOString());
  await round();
  expect([charges().length, (await state())?.lastFailure]).toEqual([21, null]);
});

describe("the payment service failed, and repeats its failure under the same key", () => {
  /** The library waits before it retries. */
  const SLOW_MS = 60_000;
  const patiently = async (minutes: number) => {
    for (let minute = 0; minute < minutes; minute++) {
      await round();
      clock.advance(61_000);
    }
  };

  test(
    "before it charged: after ten minutes another order replaces it, and is charged once",
    async () => {
      await keepCard();
      await wish();
      paying.fakeStripe.charging = "break";
      await round();
      paying.fakeStripe.charging = "succeed";
      await patiently(5);
      expect([charges().length, (await orders())[0]?.state]).toEqual([0, "open"]);
      await patiently(8);
      expect([charges().length, await paying.available(org)]).toEqual([1, 35]);
      expect((await orders()).map(({ state: now }) => now)).toEqual(["credited", "failed", "credited"]);
    },
    SLOW_MS,
  );

  test(
    "after it charged: that payment is found and credited, and there is no other",
    async () => {
      await keepCard();
      await wish();
      paying.fakeStripe.charging = "break_charged";
      await patiently(3);
      paying.fakeStripe.charging = "succeed";
      await patiently(20);
      expect([charges().length, await paying.available(org)]).toEqual([1, 35]);
      expect((await state())?.lastFailure).toBeNull();
    },
    SLOW_MS,
  );

  test(
    "and the card was replaced meanwhile: the payment by the old one is found all the same",
    async () => {
      await keepCard();
      await wish({ threshold: usd(25) });
      paying.fakeStripe.charging = "hang_up";
      await round();
      await paying.gateway.payments.orders.forgetMethod(org);
      paying.fakeStripe.charging = "succeed";
      clock.advance(24 * HOUR_MS);
      await keepCard();
      await round();
      expect([charges().length, await paying.available(org)]).toEqual([1, 45]);
    },
    SLOW_MS,
  );
});

test("a charge that the service refuses counts as declined: it is not requested every minute", async () => {
  await keepCard();
  await wish();
  paying.fakeStripe.charging = "refuse";
  for (let count = 0; count < 3; count++) await round();
  expect(await state()).toMatchObject({ lastFailure: "No such PaymentMethod.", failures: 1 });
  expect((await orders())[0]?.state).toBe("failed");
});

describe("a charge under way for a day, of which no event tells", () => {
  async function underWay() {
    await keepCard();
    await wish();
    paying.fakeStripe.charging = "pending";
    await round();
    paying.fakeStripe.charging = "succeed";
    clock.advance(24 * HOUR_MS);
    const [payment] = charges();
    if (payment === undefined) throw new Error("no charge");
    return payment;
  }

  test("is not repeated; once it is paid it is credited without an event", async () => {
    const payment = await underWay();
    await round();
    expect([charges().length, await paying.available(org)]).toEqual([1, 10]);
    expect((await state())?.lastFailure).toContain("still in progress");
    Object.assign(payment, { status: "succeeded", amount_received: 2500 });
    clock.advance(HOUR_MS + 1000);
    await round();
    expect([charges().length, await paying.available(org), (await state())?.lastFailure]).toEqual([
      1,
      35,
      null,
    ]);
  });

  test("that waits for its owner is canceled before another is made", async () => {
    const payment = await underWay();
    payment.status = "requires_action";
    await round();
    expect<unknown>([payment.status, charges().length, (await orders())[0]?.state]).toEqual([
      "canceled",
      1,
      "failed",
    ]);
    clock.advance(HOUR_MS + 1000);
    await round();
    expect([charges().length, await paying.available(org)]).toEqual([2, 35]);
  });
});

test("nothing waits in a request, and no failure goes unnoticed", () => {
  expect(failures).toEqual([]);
});
