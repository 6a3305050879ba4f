// A gateway that is paid through the fake Stripe, with the shorthand that stories about money need.
import { randomUUID } from "node:crypto";
import { byItself } from "../../src/domain/actor.ts";
import type { Clock } from "../../src/lib/clock.ts";
import { type NanoUsd, parseUsd, ZERO_USD } from "../../src/domain/money.ts";
import type { Session } from "../../src/payments/fake-stripe/account.ts";
import { FakeStripe } from "../../src/payments/fake-stripe/server.ts";
import type { PaymentOrder } from "../../src/payments/order.ts";
import type { TestClock } from "../support/clock.ts";
import { type GatewayOptions, startGateway, type TestGateway } from "../support/gateway.ts";

export const WEBHOOK_SECRET = "whsec_of_the_test";

export interface Paying {
  gateway: TestGateway;
  fakeStripe: FakeStripe;
  /** Orders credits for an organization; returns the page that the payer sees. */
  order(
    organizationId: string,
    usd?: string,
    also?: { formKey?: string; keepCard?: boolean },
  ): Promise<{ order: PaymentOrder; session: Session }>;
  /** The available credits, in dollars. */
  available(organizationId: string): Promise<number>;
  debt(organizationId: string): Promise<number>;
  stop(): Promise<void>;
}

export async function startPaying(
  clock?: TestClock & Clock,
  { configure, ...options }: Pick<GatewayOptions, "configure" | "log" | "store"> = {},
): Promise<Paying> {
  let webhookUrl = "";
  const fakeStripe = new FakeStripe({
    webhookSecret: WEBHOOK_SECRET,
    webhookUrl: () => webhookUrl,
    ...(clock && { nowMs: () => clock.nowMs() }),
  });
  const gateway = await startGateway({
    ...options,
    ...(clock && { clock }),
    configure: (config) => {
      const stripe = { secretKey: "sk_test_1", webhookSecret: WEBHOOK_SECRET, apiUrl: fakeStripe.url };
      Object.assign(config.payments, { driver: "stripe", stripe });
      configure?.(config);
    },
  });
  webhookUrl = `${gateway.url}/webhooks/stripe`;
  const balance = async (organizationId: string) => {
    const found = await gateway.ledger.balance(organizationId);
    if (found === null) throw new Error(`no organization ${organizationId}`);
    return found;
  };
  return {
    gateway,
    fakeStripe,
    order: async (organizationId, usd = "10", also = {}) => {
      const checkout = await gateway.payments.checkout({
        organizationId,
        amount: parseUsd(usd) ?? ZERO_USD,
        createdBy: "test",
        formKey: also.formKey ?? null,
        keepCard: also.keepCard ?? false,
        returnUrl: "http://127.0.0.1/billing",
        told: () => [],
      });
      if (checkout.kind !== "ordered") throw new Error(`the checkout ended ${JSON.stringify(checkout.kind)}`);
      return { order: checkout.order, session: fakeStripe.session(checkout.order.payUrl ?? "") };
    },
    available: async (organizationId) => Number((await balance(organizationId)).available) / 1e9,
    debt: async (organizationId) => Number((await balance(organizationId)).debt) / 1e9,
    stop: async () => {
      await gateway.stop();
      await fakeStripe.stop();
    },
  };
}

/** Takes that much from the balance, without involving the payment service. */
export const drain = (
  { ledger }: Pick<TestGateway, "ledger">,
  organizationId: string,
  amount: NanoUsd,
): Promise<unknown> =>
  ledger.reverse(
    { organizationId, amount, kind: "chargeback", target: "gone", source: "test", externalId: randomUUID() },
    byItself("test"),
  );
