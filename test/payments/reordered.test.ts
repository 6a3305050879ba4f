// Whatever order the events of a payment come in, however often each: redelivered until they are accepted, as the
// service does, they lead to the right balance. Orders and repetitions are random (fault 67).
import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import type { FakeStripeEvent } from "../../src/payments/fake-stripe/account.ts";
import { type Paying, startPaying } from "./paying.ts";

let paying: Paying;
beforeAll(async () => {
  paying = await startPaying();
});
afterAll(async () => {
  await paying.gateway.assertSound();
  await paying.stop();
});

interface Story {
  name: string;
  /** What is available in the end, of $10 paid. */
  left: number;
  events: (paid: FakeStripeEvent) => FakeStripeEvent[];
}

const paymentOf = (paid: FakeStripeEvent) => {
  const session = paid.data.object as { id: string };
  return paying.fakeStripe.account.pay(paying.fakeStripe.session(session.id));
};
const again = (type: string, event: FakeStripeEvent) =>
  paying.fakeStripe.event(type, event.data.object as object);

const STORIES: Story[] = [
  {
    name: "paid",
    left: 10,
    events: (paid) => [paid, again("checkout.session.async_payment_succeeded", paid)],
  },
  {
    name: "paid after its page expired",
    left: 10,
    events: (paid) => [paid, again("checkout.session.expired", paid)],
  },
  {
    name: "disputed",
    left: 0,
    events: (paid) => {
      const dispute = paying.fakeStripe.disputed(paymentOf(paid));
      return [paid, dispute, again("charge.dispute.funds_withdrawn", dispute)];
    },
  },
  {
    name: "disputed and won",
    left: 10,
    events: (paid) => {
      const dispute = paying.fakeStripe.disputed(paymentOf(paid));
      return [paid, dispute, again("charge.dispute.funds_reinstated", dispute)];
    },
  },
  {
    name: "refunded in two parts",
    left: 3,
    events: (paid) => {
      const payment = paymentOf(paid);
      return [paid, paying.fakeStripe.refunded(payment, 300), paying.fakeStripe.refunded(payment, 400)];
    },
  },
  {
    name: "refunded, but the refund failed",
    left: 10,
    events: (paid) => {
      const made = paying.fakeStripe.refunded(paymentOf(paid), 400);
      return [paid, made, paying.fakeStripe.refundFailed(made)];
    },
  },
];

test.each(STORIES)("$name: $left dollars are left, in every order", async ({ events, left }) => {
  await fc.assert(
    fc.asyncProperty(fc.infiniteStream(fc.nat()), async (draws) => {
      const org = (await paying.gateway.customer({ usd: "0" })).organizationId;
      const { session } = await paying.order(org);
      const waiting = events(paying.fakeStripe.paid(session)).flatMap((event) => [event, event]);
      for (let tries = 0; waiting.length > 0 && tries < 200; tries++) {
        const [draw = 0] = draws.take(1);
        const [event] = waiting.splice(draw % waiting.length, 1);
        const { status } = await paying.fakeStripe.deliver(event ?? {});
        if (status !== 200 && event !== undefined) waiting.push(event);
      }
      expect(waiting).toEqual([]);
      expect(await paying.available(org)).toBe(left);
    }),
    { numRuns: 15 },
  );
});
