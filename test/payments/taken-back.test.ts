// Automatic top-up behind a dispute or a refund: whoever took a payment back is charged again only when a person says so.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { OF_ITSELF } from "../../src/domain/actor.ts";
import { nanoUsd } from "../../src/domain/money.ts";
import type { Payment } from "../../src/payments/fake-stripe/account.ts";
import { STORES } from "../support/gateway.ts";
import { type Paying, startPaying } from "./paying.ts";

const usd = (dollars: number) => nanoUsd(BigInt(dollars) * 1_000_000_000n);

describe.each(STORES)("on %s", (store) => {
  let paying: Paying;
  let org: string;
  let paid: Payment;
  beforeAll(async () => {
    paying = await startPaying(undefined, { store });
  });
  afterAll(async () => {
    await paying.gateway.assertSound();
    await paying.stop();
  });
  beforeEach(async () => {
    org = (await paying.gateway.customer({ usd: "0" })).organizationId;
    const { session } = await paying.order(org, "50", { keepCard: true });
    await paying.fakeStripe.deliver(paying.fakeStripe.paid(session));
    paid = paying.fakeStripe.account.pay(session);
    const terms = {
      organizationId: org,
      enabled: true,
      threshold: usd(20),
      amount: usd(25),
      monthlyCap: null,
    };
    await automatic().set(terms, null);
  });

  const automatic = () => paying.gateway.payments.automatic;
  const round = () =>
    paying.gateway.payments.runAutomatic((error) => {
      throw error;
    });
  const charges = () => paying.fakeStripe.calls.filter((call) => call === "POST /v1/payment_intents").length;
  /** What rounds of these charge, and what is available then. */
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
      // The service delivers again what a person has decided on since.
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

  test("where it is off, nothing is said of it", async () => {
    const found = await automatic().find(org);
    if (found !== null) await automatic().set({ ...found, enabled: false }, found);
    expect(await after(paying.fakeStripe.disputed(paid))).toEqual([0, 0]);
    expect((await automatic().find(org))?.lastFailure).toBeNull();
  });
});
