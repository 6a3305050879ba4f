// All possible events of one payment, sent concurrently: paid, disputed, won, refunded in parts, each twice and in
// any order, to one gateway or to two on one database, while rounds of automatic top-up run. Money is credited and
// taken back once, and an organization that took a payment back is not charged again automatically.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { nanoUsd } from "../../src/domain/money.ts";
import type { FakeStripeEvent, Payment } from "../../src/payments/fake-stripe/account.ts";
import { FakeStripe } from "../../src/payments/fake-stripe/server.ts";
import { startGateway, type TestGateway } from "../support/gateway.ts";
import { testPostgres } from "../support/postgres.ts";

const WEBHOOK_SECRET = "whsec_of_the_test";
const usd = (dollars: number) => nanoUsd(BigInt(dollars) * 1_000_000_000n);
const TERMS = { enabled: true, threshold: usd(20), amount: usd(25), monthlyCap: null };

interface Story {
  name: string;
  /** What is available in the end, of $50 paid. */
  left: number;
  events: (stripe: FakeStripe, payment: Payment) => FakeStripeEvent[];
}
const again = (stripe: FakeStripe, type: string, event: FakeStripeEvent) =>
  stripe.event(type, event.data.object as object);

const STORIES: Story[] = [
  {
    name: "disputed",
    left: 0,
    events: (stripe, payment) => {
      const dispute = stripe.disputed(payment);
      return [dispute, again(stripe, "charge.dispute.funds_withdrawn", dispute)];
    },
  },
  {
    name: "disputed and won",
    left: 50,
    events: (stripe, payment) => {
      const dispute = stripe.disputed(payment);
      const others = ["charge.dispute.funds_withdrawn", "charge.dispute.funds_reinstated"];
      return [dispute, ...others.map((type) => again(stripe, type, dispute))];
    },
  },
  {
    name: "paid back in two parts",
    left: 5,
    events: (stripe, payment) => [stripe.refunded(payment, 2000), stripe.refunded(payment, 2500)],
  },
  {
    name: "paid back, but the refund failed",
    left: 50,
    events: (stripe, payment) => {
      const refund = stripe.refunded(payment, 5000);
      return [refund, stripe.refundFailed(refund)];
    },
  },
];

describe.each([1, 2])("at %d gateways", (many) => {
  let stripe: FakeStripe;
  let gateways: TestGateway[];
  let drop = async (): Promise<void> => undefined;
  let turn = 0;
  const failures: unknown[] = [];

  beforeAll(async () => {
    stripe = new FakeStripe({
      webhookSecret: WEBHOOK_SECRET,
      webhookUrl: () => `${gateways[turn++ % many]?.url}/webhooks/stripe`,
    });
    const database = many === 1 ? null : await (await testPostgres()).migrated();
    if (database !== null) drop = () => database.drop();
    const start = (keyOf?: TestGateway) =>
      startGateway({
        models: [],
        configure: (config) => {
          if (database !== null) config.databaseUrl = database.url;
          config.publicUrl = "https://gate.example.com";
          if (keyOf !== undefined) cpSync(join(keyOf.dataDir, "data.key"), join(config.dataDir, "data.key"));
          const own = { secretKey: "sk_test_1", webhookSecret: WEBHOOK_SECRET, apiUrl: stripe.url };
          Object.assign(config.payments, { driver: "stripe", stripe: own });
        },
      });
    const first = await start();
    gateways = many === 1 ? [first] : [first, await start(first)];
  }, 120_000);
  afterAll(async () => {
    await gateways[0]?.assertSound();
    for (const gateway of gateways) await gateway.stop();
    await stripe.stop();
    await drop();
  });

  /** Redelivers until it is accepted, as the service does. */
  async function deliver(event: FakeStripeEvent): Promise<void> {
    for (let tries = 0; tries < 300; tries++) {
      const { status } = await stripe.deliver(event);
      if (status === 200) return;
      if (status !== 409 && status !== 422 && status !== 503) failures.push(`${event.type}: ${status}`);
      await Bun.sleep(Math.random() * 20);
    }
    failures.push(`${event.type} is never taken`);
  }

  /** Runs rounds at every gateway in turn until the returned function is called. */
  function rounds(): () => Promise<void> {
    let ends = false;
    const running = (async () => {
      for (; !ends; await Bun.sleep(1))
        for (const { payments } of gateways) await payments.runAutomatic((error) => failures.push(error));
    })();
    return () => {
      ends = true;
      return running;
    };
  }

  async function tell({ events, left }: Story, gateway: TestGateway): Promise<void> {
    const { organizationId } = await gateway.customer({ usd: "0" });
    const order = { organizationId, amount: usd(50), createdBy: "test", formKey: null, keepCard: true };
    const asked = { ...order, returnUrl: "https://gate.example.com", told: () => [] };
    const checkout = await gateway.payments.checkout(asked);
    if (checkout.kind !== "ordered") throw new Error(checkout.kind);
    await gateway.payments.automatic.set({ ...TERMS, organizationId }, null);
    const session = stripe.session(checkout.order.payUrl ?? "");
    const paid = stripe.paid(session);
    const payment = stripe.account.pay(session);
    const told = [
      paid,
      again(stripe, "checkout.session.async_payment_succeeded", paid),
      stripe.event("payment_intent.succeeded", payment),
      ...events(stripe, payment),
    ];
    await Promise.all([...told, ...told].toSorted(() => Math.random() - 0.5).map(deliver));
    await Bun.sleep(30);
    const charges = [...stripe.account.payments.values()].filter(
      ({ id, metadata }) =>
        metadata["organization"] === organizationId &&
        metadata["withdrawn"] === undefined && // requested without a card, so that nobody can charge it any more
        id !== payment.id,
    );
    const balance = await gateway.ledger.balance(organizationId);
    expect([charges.length, balance?.available, balance?.debt]).toEqual([0, usd(left), usd(0)]);
  }

  test.each(STORIES)("$name: credited once, taken back once, not charged again", async (story) => {
    const end = rounds();
    const five = [0, 1, 2, 3, 4];
    try {
      for (const _ of five)
        await Promise.all(five.map((n) => tell(story, gateways[n % many] as TestGateway)));
    } finally {
      await end();
    }
    expect(failures).toEqual([]);
  });
});
