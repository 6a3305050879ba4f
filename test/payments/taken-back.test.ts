// Automatic top-up after a dispute or a refund: an organization that took a payment back is charged again only if a
// person says so.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { OF_ITSELF } from "../../src/domain/actor.ts";
import { nanoUsd } from "../../src/domain/money.ts";
import type { Payment } from "../../src/payments/fake-stripe/account.ts";
import { type Customer, hello, STORES } from "../support/gateway.ts";
import { waitFor } from "../support/wait.ts";
import { type Paying, startPaying } from "./paying.ts";

const usd = (dollars: number) => nanoUsd(BigInt(dollars) * 1_000_000_000n);

const TERMS = { enabled: true, threshold: usd(20), amount: usd(25), monthlyCap: null };

/** Requests about cards, the first of which waits until it is released. */
const cards = {
  asked: 0,
  goOn: (): void => undefined,
  stop: async (): Promise<void> => undefined,
};
function slowCards<T extends { apiUrl: string | null }>(stripe: T): T {
  const { promise, resolve } = Promise.withResolvers<void>();
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      const { pathname, search } = new URL(request.url);
      if (search.includes("expand") && ++cards.asked === 1) await promise;
      const body = request.method === "GET" ? null : await request.text();
      return fetch(`${stripe.apiUrl}${pathname}${search}`, {
        method: request.method,
        headers: request.headers,
        body,
      });
    },
  });
  Object.assign(cards, { asked: 0, goOn: resolve, stop: () => server.stop(true) });
  return { ...stripe, apiUrl: `http://127.0.0.1:${server.port}` };
}

describe.each(STORES)("on %s", (store) => {
  let paying: Paying;
  let org: string;
  let customer: Customer;
  let paid: Payment;
  beforeAll(async () => {
    paying = await startPaying(undefined, { store });
  });
  afterAll(async () => {
    await paying.gateway.assertSound();
    await paying.stop();
  });
  beforeEach(async () => {
    customer = await paying.gateway.customer({ usd: "0" });
    org = customer.organizationId;
    const { session } = await paying.order(org, "50", { keepCard: true });
    const told = await paying.fakeStripe.deliver(paying.fakeStripe.paid(session));
    expect([told.status, await told.json()]).toMatchObject([200, { outcome: "credited" }]);
    paid = paying.fakeStripe.account.pay(session);
    await automatic().set({ ...TERMS, organizationId: org }, null);
  });

  const automatic = () => paying.gateway.payments.automatic;
  const round = () =>
    paying.gateway.payments.runAutomatic((error) => {
      throw error;
    });
  const charges = () => paying.fakeStripe.calls.filter((call) => call === "POST /v1/payment_intents").length;
  /** What rounds charge after these events, and what is available then. */
  const after = async (event: Parameters<Paying["fakeStripe"]["deliver"]>[0]) => {
    const before = charges();
    expect((await paying.fakeStripe.deliver(event)).status).toBe(200);
    await round();
    await round();
    return [charges() - before, await paying.available(org)];
  };
  const retry = () => paying.gateway.payments.retryAutomatic(org, OF_ITSELF);

  test.each(["disputed", "paid back"])(
    "a payment that was %s is not charged again by itself",
    async (how) => {
      const event =
        how === "disputed" ? paying.fakeStripe.disputed(paid) : paying.fakeStripe.refunded(paid, 5000);
      expect(await after(event)).toEqual([0, 0]);
      expect(await automatic().find(org)).toMatchObject({
        lastFailure: expect.stringContaining("disputed or paid back"),
        nextTryAtMs: null,
      });
      await retry();
      expect(await paying.available(org)).toBe(25);
      // The service redelivers an event that a person has decided on since.
      expect(await after(event)).toEqual([0, 25]);
      expect((await automatic().find(org))?.lastFailure).toBeNull();
    },
  );

  test("a part that leaves enough changes nothing; one that leaves too little waits for a person", async () => {
    expect(await after(paying.fakeStripe.refunded(paid, 1000))).toEqual([0, 40]);
    expect((await automatic().find(org))?.lastFailure).toBeNull();
    expect(await after(paying.fakeStripe.refunded(paid, 2500))).toEqual([0, 15]);
    expect((await automatic().find(org))?.nextTryAtMs).toBeNull();
    expect((await automatic().find(org))?.lastFailure).not.toBeNull();
  });

  test("if it is off, nothing is reported about it", async () => {
    const found = await automatic().find(org);
    if (found !== null) await automatic().set({ ...found, enabled: false }, found);
    expect(await after(paying.fakeStripe.disputed(paid))).toEqual([0, 0]);
    expect((await automatic().find(org))?.lastFailure).toBeNull();
  });

  describe("whatever comes at the same moment, it waits for a person", () => {
    const waits = async (left?: number) => {
      const before = charges();
      await round();
      await round();
      expect(charges() - before).toBe(0);
      if (left !== undefined) expect(await paying.available(org)).toBe(left);
      expect(await automatic().find(org)).toMatchObject({
        lastFailure: expect.stringContaining("disputed or paid back"),
        nextTryAtMs: null,
      });
    };
    /** A dispute that comes during a charge of the stored card, which then ends like this. */
    const disputedMeanwhile = async (charging: "succeed" | "decline") => {
      // A little of it is spent, so that the charge leaves less than the threshold.
      expect((await paying.gateway.chat(customer, hello())).status).toBe(200);
      const terms = { ...TERMS, organizationId: org, threshold: usd(50), amount: usd(50) };
      await automatic().set(terms, await automatic().find(org));
      const { fakeStripe } = paying;
      const goOn = fakeStripe.hold();
      const under = round();
      await waitFor(async () => fakeStripe.held === 1, "the charge is under way");
      fakeStripe.charging = charging;
      expect((await fakeStripe.deliver(fakeStripe.disputed(paid))).status).toBe(200);
      goOn();
      await under;
      fakeStripe.charging = "succeed";
    };

    test("a pending charge that succeeds", async () => {
      await disputedMeanwhile("succeed");
      await waits();
      expect(await paying.available(org)).toBeGreaterThan(49.9);
    });

    test("a pending charge that is declined", async () => {
      await disputedMeanwhile("decline");
      await waits(0);
    });

    test("another part that is refunded", async () => {
      const parts = [paying.fakeStripe.refunded(paid, 2000), paying.fakeStripe.refunded(paid, 2500)];
      await Promise.all(parts.map((part) => paying.fakeStripe.deliver(part)));
      await waits(5);
    });

    test("a second event of the payment itself, whose card is being looked up", async () => {
      const other = await startPaying(undefined, {
        store,
        configure: ({ payments }) => (payments.stripe = payments.stripe && slowCards(payments.stripe)),
      });
      const [mine, its] = [paying, org];
      paying = other;
      try {
        org = (await paying.gateway.customer({ usd: "0" })).organizationId;
        const { session } = await paying.order(org, "50", { keepCard: true });
        const { fakeStripe } = paying;
        const event = fakeStripe.paid(session);
        const late = fakeStripe.deliver(
          fakeStripe.event("checkout.session.async_payment_succeeded", session),
        );
        await waitFor(async () => cards.asked === 1, "the card is asked for");
        expect((await fakeStripe.deliver(event)).status).toBe(200);
        await automatic().set({ ...TERMS, organizationId: org }, null);
        const dispute = fakeStripe.disputed(fakeStripe.account.pay(session));
        expect((await fakeStripe.deliver(dispute)).status).toBe(200);
        cards.goOn();
        expect((await late).status).toBe(200);
        await waits(0);
      } finally {
        [paying, org] = [mine, its];
        await other.stop();
        await cards.stop();
      }
    });
  });
});
