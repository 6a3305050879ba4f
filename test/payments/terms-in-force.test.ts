// Automatic top-up while its terms change: nothing is charged on terms, or on a card, that are no longer in force,
// and anything charged on them is credited. Rounds are run by hand; the clock is the test's.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { nanoUsd } from "../../src/domain/money.ts";
import type { AutoTopUp } from "../../src/payments/auto-top-up-book.ts";
import { StripeDriver } from "../../src/payments/stripe.ts";
import { NEWEST } from "../../src/store/page.ts";
import { testClock } from "../support/clock.ts";
import { waitFor } from "../support/wait.ts";
import { type Paying, startPaying, WEBHOOK_SECRET } from "./paying.ts";

/** The service's library waits before it retries. */
const SLOW_MS = 60_000;
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
  org = await payer();
});
afterEach(() => {
  expect(failures).toEqual([]);
  Object.assign(paying.fakeStripe, { charging: "succeed", away: false });
});

const usd = (dollars: number) => nanoUsd(BigInt(dollars) * 1_000_000_000n);
/** An organization with ten dollars, and a card on file. */
async function payer(): Promise<string> {
  const made = (await paying.gateway.customer({ usd: "0" })).organizationId;
  const { session } = await paying.order(made, "10", { keepCard: true });
  await paying.fakeStripe.deliver(paying.fakeStripe.paid(session));
  return made;
}
/** A person pays five dollars more, and has this card stored. */
async function anotherCard(): Promise<void> {
  const { session } = await paying.order(org, "5", { keepCard: true });
  await paying.fakeStripe.deliver(paying.fakeStripe.paid(session));
}
/** Turns automatic top-up on, $500 below $20, or with other terms; resolves once it is done. */
async function wish(terms: Partial<AutoTopUp> = {}): Promise<void> {
  const { automatic } = paying.gateway.payments;
  const wished = { enabled: true, threshold: usd(20), amount: usd(500), monthlyCap: null, ...terms };
  const { organizationId = org } = terms;
  const from = await automatic.find(organizationId);
  expect(await automatic.set({ ...wished, organizationId }, from)).toMatchObject(wished);
}
const state = () => paying.gateway.payments.automatic.find(org);
const failures: unknown[] = [];
const round = () => paying.gateway.payments.runAutomatic((error) => failures.push(error));
const laterRound = () => {
  clock.advance(61_000);
  return round();
};
const orders = async () => (await paying.gateway.payments.orders.page(org, NEWEST, { limit: 20 })).rows;
/** The automatic ones, newest first, in dollars with their outcomes. */
const automaticOrders = async () =>
  (await orders())
    .filter(({ purpose }) => purpose === "auto_top_up")
    .map(({ amount, state: now }) => [Number(amount / usd(1)), now]);
/** The automatic charges of the organization's card, in dollars. */
const charged = (): number[] =>
  [...paying.fakeStripe.account.payments.values()]
    .filter(({ metadata, status }) => metadata["organization"] === org && status === "succeeded")
    .map(({ amount }) => amount / 100)
    .filter((dollars) => dollars > 10);

/** Runs something once, when a method is called and before it does anything. */
function onCall<Room, Name extends keyof Room>(
  room: Room,
  name: Name,
  meanwhile: () => Promise<unknown>,
): void {
  const method = room[name] as (...values: unknown[]) => Promise<unknown>;
  const once = async (...values: unknown[]): Promise<unknown> => {
    room[name] = method as Room[Name];
    await meanwhile();
    return await method.apply(room, values);
  };
  room[name] = once as Room[Name];
}

describe("changes during a round take effect", () => {
  test("switched off while another organization's card is charged: not charged", async () => {
    const [earlier = "", later = ""] = [org, await payer()].toSorted();
    await wish({ organizationId: earlier });
    await wish({ organizationId: later });
    onCall(paying.gateway.payments.automatic, "succeeded", async () => {
      expect(await paying.available(earlier)).toBe(510);
      await wish({ organizationId: later, enabled: false });
    });
    await round();
    expect([await paying.available(earlier), await paying.available(later)]).toEqual([510, 10]);
    org = later;
    await laterRound();
    expect([await automaticOrders(), charged()]).toEqual([[[500, "expired"]], []]);
  });

  test("a card that is removed once the order is made is not charged", async () => {
    await wish();
    onCall(paying.gateway.payments.orders, "automaticSince", () =>
      paying.gateway.payments.orders.forgetMethod(org),
    );
    await round();
    expect([await automaticOrders(), charged()]).toEqual([[[500, "expired"]], []]);
  });

  test("a decline marks only the terms that it was about", async () => {
    await wish();
    paying.fakeStripe.charging = "decline";
    onCall(paying.gateway.payments.orders, "ended", () => wish({ amount: usd(25) }));
    await round();
    expect(await state()).toMatchObject({ lastFailure: null, failures: 0, nextTryAtMs: null });
    paying.fakeStripe.charging = "succeed";
    await round();
    expect(charged()).toEqual([25]);
  });

  test("a decline does not affect another card than it was about", async () => {
    await wish();
    paying.fakeStripe.charging = "decline";
    clock.advance(1_000);
    onCall(paying.gateway.payments.orders, "ended", anotherCard);
    await round();
    expect(await state()).toMatchObject({ lastFailure: null, failures: 0, nextTryAtMs: null });
    paying.fakeStripe.charging = "succeed";
    await round();
    expect(await automaticOrders()).toEqual([
      [500, "credited"],
      [500, "failed"],
    ]);
  });

  test("nor does a decline reported by an event", async () => {
    await wish();
    paying.fakeStripe.charging = "pending";
    await round();
    const [order] = await orders();
    clock.advance(1_000);
    await anotherCard();
    const payment = paying.fakeStripe.account.payments.get(order?.sessionId ?? "");
    const declined = { ...payment, last_payment_error: { message: "Your bank said no." } };
    await paying.fakeStripe.deliver(paying.fakeStripe.event("payment_intent.payment_failed", declined));
    expect(await state()).toMatchObject({ lastFailure: null, failures: 0, nextTryAtMs: null });
    expect((await paying.gateway.payments.orders.find(order?.id ?? ""))?.state).toBe("failed");
  });

  test("a card that is saved while a round finds none is used by the next", async () => {
    await wish();
    await paying.gateway.payments.orders.forgetMethod(org);
    onCall(paying.gateway.payments.automatic, "failed", anotherCard);
    await round();
    expect(await state()).toMatchObject({ lastFailure: null, nextTryAtMs: null });
    await round();
    expect(charged()).toEqual([500]);
  });

  test("so is one of other terms reported by an event", async () => {
    await wish();
    paying.fakeStripe.charging = "pending";
    await round();
    await wish({ amount: usd(25) });
    const payment = paying.fakeStripe.account.payments.get((await orders())[0]?.sessionId ?? "");
    const declined = { ...payment, last_payment_error: { message: "Your bank said no." } };
    await paying.fakeStripe.deliver(paying.fakeStripe.event("payment_intent.payment_failed", declined));
    expect(await state()).toMatchObject({ lastFailure: null, failures: 0, nextTryAtMs: null });
    paying.fakeStripe.charging = "succeed";
    await round();
    expect([await automaticOrders(), charged()]).toEqual([
      [
        [25, "credited"],
        [500, "failed"],
      ],
      [25],
    ]);
  });
});

describe("an open order from before", () => {
  /** Makes the service receive no call for it. */
  async function unasked(): Promise<void> {
    await wish();
    paying.fakeStripe.away = true;
    await round();
    paying.fakeStripe.away = false;
    expect(await automaticOrders()).toEqual([[500, "open"]]);
  }

  test(
    "of another amount is never charged; the amount in force is, once",
    async () => {
      await unasked();
      await wish({ amount: usd(25) });
      await round();
      await laterRound();
      expect([await automaticOrders(), charged(), await paying.available(org)]).toEqual([
        [
          [25, "credited"],
          [500, "expired"],
        ],
        [25],
        35,
      ]);
    },
    SLOW_MS,
  );

  test(
    "of another amount that was charged, with its answer lost, is credited, and nothing else is charged",
    async () => {
      await wish();
      paying.fakeStripe.charging = "hang_up";
      await round();
      paying.fakeStripe.charging = "succeed";
      await wish({ amount: usd(25) });
      await round();
      await laterRound();
      expect([await automaticOrders(), charged(), await paying.available(org)]).toEqual([
        [[500, "credited"]],
        [500],
        510,
      ]);
    },
    SLOW_MS,
  );

  test(
    "is ended when it is turned off, and a gateway that was about to charge it charges nothing",
    async () => {
      await unasked();
      await wish({ enabled: false });
      await round();
      expect(await automaticOrders()).toEqual([[500, "expired"]]);
      const [order] = await orders();
      const method = await paying.gateway.payments.orders.method(org);
      if (order === undefined || method === null) throw new Error("no order, or no card");
      const { url } = paying.fakeStripe;
      const late = new StripeDriver({
        name: "stripe",
        secretKey: "sk_test_1",
        webhookSecret: WEBHOOK_SECRET,
        apiUrl: url,
      });
      expect((await late.charge(order, method)).kind).toBe("void");
      expect(charged()).toEqual([]);
    },
    SLOW_MS,
  );

  test(
    "that was charged, with its answer lost, is credited though it was turned off",
    async () => {
      await wish();
      paying.fakeStripe.charging = "hang_up";
      await round();
      paying.fakeStripe.charging = "succeed";
      await wish({ enabled: false });
      await round();
      expect([await automaticOrders(), await paying.available(org)]).toEqual([[[500, "credited"]], 510]);
    },
    SLOW_MS,
  );

  test(
    "is charged, once, when it is turned off and on again with the same terms",
    async () => {
      await unasked();
      await wish({ enabled: false });
      onCall(paying.gateway.payments.orders, "openAutomatic", () => wish());
      await round();
      await laterRound();
      expect([await automaticOrders(), charged()]).toEqual([[[500, "credited"]], [500]]);
    },
    SLOW_MS,
  );

  test(
    "stays while the service cannot be reached: no other is charged beside it",
    async () => {
      await unasked();
      await wish({ amount: usd(25) });
      paying.fakeStripe.away = true;
      await round();
      paying.fakeStripe.away = false;
      await round();
      expect([await automaticOrders(), charged()]).toEqual([[[500, "open"]], []]);
      await laterRound();
      expect(charged()).toEqual([25]);
    },
    SLOW_MS,
  );

  test(
    "of another amount, for which the service repeats its failure, gets ten minutes for its payment to appear",
    async () => {
      await wish();
      paying.fakeStripe.charging = "break";
      await round();
      paying.fakeStripe.charging = "succeed";
      await wish({ amount: usd(25) });
      await round();
      expect([await automaticOrders(), charged()]).toEqual([[[500, "open"]], []]);
      clock.advance(10 * 60_000);
      await round();
      expect([await automaticOrders(), charged()]).toEqual([
        [
          [25, "credited"],
          [500, "expired"],
        ],
        [25],
      ]);
    },
    SLOW_MS,
  );

  test(
    "stays while another gateway's charge of it is at the service: it is credited, and the only one",
    async () => {
      await wish();
      const { fakeStripe } = paying;
      const goOn = fakeStripe.hold();
      const charging = round();
      await waitFor(async () => fakeStripe.held > 0, "the charge to be at the service");
      await wish({ amount: usd(25) });
      await round();
      expect(await automaticOrders()).toEqual([[500, "open"]]);
      goOn();
      await charging;
      await laterRound();
      expect([await automaticOrders(), charged()]).toEqual([[[500, "credited"]], [500]]);
    },
    SLOW_MS,
  );

  test(
    "for ten minutes stays, too, while its charge is at the service: no other is made beside it",
    async () => {
      const { fakeStripe } = paying;
      await unasked();
      clock.advance(11 * 60_000);
      const goOn = fakeStripe.hold();
      const charging = round();
      await waitFor(async () => fakeStripe.held > 0, "the charge to be at the service");
      await wish({ amount: usd(25) });
      await round();
      await laterRound();
      expect([await automaticOrders(), charged()]).toEqual([[[500, "open"]], []]);
      goOn();
      await charging;
      await laterRound();
      expect([await automaticOrders(), charged()]).toEqual([[[500, "credited"]], [500]]);
    },
    SLOW_MS,
  );
});

describe("an event that comes again, or late, changes nothing that a person changed meanwhile", () => {
  const method = () => paying.gateway.payments.orders.method(org);
  /** A payment whose card is stored, with its event. */
  async function paidCheckout(): Promise<object> {
    const { session } = await paying.order(org, "10", { keepCard: true });
    return paying.fakeStripe.paid(session);
  }

  test("a card that was removed stays removed", async () => {
    const event = await paidCheckout();
    await paying.fakeStripe.deliver(event);
    expect(await method()).not.toBeNull();
    await paying.gateway.payments.orders.forgetMethod(org);
    expect(await (await paying.fakeStripe.deliver(event)).json()).toMatchObject({ outcome: "repeated" });
    expect(await method()).toBeNull();
  });

  test("a card is not replaced by one of an earlier payment", async () => {
    const late = await paidCheckout();
    clock.advance(5_000);
    await paying.fakeStripe.deliver(await paidCheckout());
    const newest = await method();
    clock.advance(5_000);
    expect(await (await paying.fakeStripe.deliver(late)).json()).toMatchObject({ outcome: "credited" });
    expect(await method()).toEqual(newest);
  });

  test("a crash before the acknowledgement loses no card: the redelivery stores it", async () => {
    await paying.gateway.payments.orders.forgetMethod(org);
    const event = await paidCheckout();
    onCall(paying.gateway.payments.orders, "credited", () => Promise.reject(new Error("crashed")));
    expect((await paying.fakeStripe.deliver(event)).status).toBe(500);
    await paying.gateway.payments.orders.forgetMethod(org);
    await paying.fakeStripe.deliver(event);
    expect(await method()).not.toBeNull();
  });

  test("an earlier charge does not restart the retries of a declined card", async () => {
    await wish();
    await round();
    const [order] = await orders();
    const payment = paying.fakeStripe.account.payments.get(order?.paymentId ?? "") ?? {};
    const event = paying.fakeStripe.event("payment_intent.succeeded", payment);
    await paying.fakeStripe.deliver(event);
    await wish({ threshold: usd(1000), amount: usd(1000) });
    paying.fakeStripe.charging = "decline";
    await round();
    const marked = await state();
    expect(marked).toMatchObject({ failures: 1 });
    expect(await (await paying.fakeStripe.deliver(event)).json()).toMatchObject({ outcome: "repeated" });
    expect(await state()).toEqual(marked);
  });
});
