// A gateway that is killed while a payment arrives (fault 68): the service redelivers, and the payment is credited
// once. The process really dies, by SIGKILL; the fake Stripe outlives it.
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { NANO_PER_USD, nanoUsd } from "../../src/domain/money.ts";
import type { CrashPoint } from "../../src/lib/crash-point.ts";
import { FakeStripe } from "../../src/payments/fake-stripe/server.ts";
import { OrderBook } from "../../src/payments/order-book.ts";
import { StripeDriver } from "../../src/payments/stripe.ts";
import { sqliteSql } from "../../src/store/sqlite-sql.ts";
import { openSqliteStore } from "../../src/store/sqlite.ts";
import { ProcessGateway } from "../support/process-gateway.ts";

const webhookSecret = "whsec_of_the_test";
const SECRETS = { STRIPE_SECRET_KEY: "sk_test_1", STRIPE_WEBHOOK_SECRET: webhookSecret };
const POINTS: [CrashPoint, first: string][] = [
  ["payment_received", "credited"],
  ["payment_credited", "repeated"],
];

test.each(POINTS)(
  "killed at %s, the redelivery says %s, and the credits are there once",
  async (at, first) => {
    let webhookUrl = "";
    const double = new FakeStripe({ webhookSecret, webhookUrl: () => webhookUrl });
    const gateway = await ProcessGateway.start(SECRETS, `payments: { stripe_api_url: "${double.url}" }`);
    const dataDir = join(gateway.folder, "data");
    const run = async (env: Record<string, string>): Promise<void> => {
      await gateway.run({ ...SECRETS, ...env });
      const { url } = JSON.parse(readFileSync(join(dataDir, "operator.json"), "utf8")) as { url: string };
      webhookUrl = `${url}/webhooks/stripe`;
    };
    try {
      const { id: org } = await gateway.admin<{ id: string }>("POST", "/organizations", { name: "Test" });
      await gateway.kill();
      const session = double.session(await orderIn(dataDir, org, double.url));
      await run({ TOLLGATE_CRASH_AT: at });
      const event = double.paid(session);
      expect(await double.deliver(event).catch(() => "cut")).toBe("cut");
      expect(await gateway.ended()).toBe("SIGKILL");

      await run({});
      const outcomes: string[] = [];
      for (let count = 0; count < 3; count++)
        outcomes.push(((await (await double.deliver(event)).json()) as { outcome: string }).outcome);
      expect(outcomes).toEqual([first, "repeated", "repeated"]);
      expect(await gateway.admin("GET", `/credits?org=${org}`)).toMatchObject({
        available_usd: "25.000000000",
        purchased_usd: "25.000000000",
      });
      const { data } = await gateway.admin<{ data: object[] }>("GET", `/payments/orders?org=${org}`);
      expect(data).toMatchObject([{ state: "credited" }]);
      expect(await gateway.admin("GET", "/ledger/audit")).toMatchObject({ ok: true, violations: [] });
    } finally {
      await gateway.stop();
      await double.stop();
    }
  },
  120_000,
);

/** An order of $25 as the dashboard makes it, in the store of a gateway that does not run; returns where to pay. */
async function orderIn(dataDir: string, organizationId: string, apiUrl: string): Promise<string> {
  const store = openSqliteStore(dataDir);
  const orders = new OrderBook(sqliteSql(store));
  const driver = new StripeDriver({ name: "stripe", secretKey: "sk_test_1", webhookSecret, apiUrl });
  const amount = nanoUsd(25n * NANO_PER_USD);
  const asked = { organizationId, driver: "stripe", purpose: "checkout", amount } as const;
  const taken = await orders.take({ ...asked, createdBy: "test", formKey: null }, Date.now());
  if (taken === null) throw new Error("there is no such organization");
  const urls = { paidUrl: "http://127.0.0.1/paid", leftUrl: "http://127.0.0.1/left" };
  const opened = await driver.open(taken.order, { ...urls, keepCard: false });
  if (opened.kind !== "page") throw new Error("there is nothing to pay on");
  await orders.opened(taken.order.id, opened);
  store.close();
  return opened.url;
}
