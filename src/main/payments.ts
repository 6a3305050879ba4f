// The payments room with the configured driver. The test driver runs the fake Stripe inside this process, so
// that a gateway without Stripe can show the whole way from "add credits" to a balance.
import type { Config } from "../config/config.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Clock } from "../lib/clock.ts";
import type { Jobs } from "../lib/jobs.ts";
import { randomBase62 } from "../lib/id.ts";
import type { PaymentDriver } from "../payments/driver.ts";
import { manualDriver } from "../payments/manual.ts";
import { Payments } from "../payments/payments.ts";
import type { Sql } from "../store/sql.ts";

export interface OpenPayments {
  room: Payments;
  /** Stops the fake Stripe, if it runs: only with the driver `test`. */
  stop(): Promise<void>;
}

interface PaymentsOn {
  sql: Sql;
  ledger: Ledger;
  clock: Clock;
  /** The address of this process; known once the port is open. */
  address: () => string;
  jobs: Jobs;
}

const AUTOMATIC_EVERY_MS = 5_000;

export function openPayments(config: Config, on: PaymentsOn): OpenPayments {
  const { driver, minimum, maximum } = config.payments;
  const stops: (() => Promise<void>)[] = [];
  let loaded: Promise<PaymentDriver> | null = null;
  const room = new Payments({
    sql: on.sql,
    till: on.ledger,
    availableOf: async (organizationId) => (await on.ledger.balance(organizationId))?.available ?? null,
    nowMs: () => on.clock.nowMs(),
    driverName: driver,
    loadDriver: () => (loaded ??= loadDriver(config, on, stops)),
    limits: { minimum, maximum },
  });
  const automatic = on.jobs.every("auto_top_up", AUTOMATIC_EVERY_MS, () =>
    room.runAutomatic((error) => on.jobs.failed("auto_top_up", error)),
  );
  return {
    room,
    stop: async () => {
      await automatic.stop();
      await Promise.all(stops.map((stop) => stop()));
    },
  };
}

async function loadDriver(
  { payments, listen }: Config,
  on: PaymentsOn,
  stops: (() => Promise<void>)[],
): Promise<PaymentDriver> {
  if (payments.driver === "manual") return manualDriver;
  const { StripeDriver } = await import("../payments/stripe.ts");
  if (payments.driver === "stripe") {
    if (payments.stripe === null) throw new Error("the driver stripe has no secrets");
    return new StripeDriver({ name: "stripe", ...payments.stripe });
  }
  const { FakeStripe } = await import("../payments/fake-stripe/server.ts");
  const webhookSecret = `whsec_${randomBase62(32)}`;
  const fake = new FakeStripe({
    host: listen.host,
    webhookSecret,
    nowMs: () => on.clock.nowMs(),
    webhookUrl: () => `${on.address()}/webhooks/stripe`,
  });
  stops.push(() => fake.stop());
  return new StripeDriver({ name: "test", secretKey: "sk_test_double", webhookSecret, apiUrl: fake.url });
}
