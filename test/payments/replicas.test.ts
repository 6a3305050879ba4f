// Two gateways on one PostgreSQL: payments, automatic top-ups and alerts happen once, whichever of the two handles
// them.
import { byItself } from "../../src/domain/actor.ts";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { nanoUsd } from "../../src/domain/money.ts";
import { FakeStripe } from "../../src/payments/fake-stripe/server.ts";
import { NEWEST } from "../../src/store/page.ts";
import { startReceiver } from "../alerts/receiver.ts";
import { startGateway, type TestGateway } from "../support/gateway.ts";
import { reads, waitFor } from "../support/wait.ts";
import { testPostgres } from "../support/postgres.ts";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { drain } from "./paying.ts";
import { auditLog } from "../support/audit-log.ts";

const WEBHOOK_SECRET = "whsec_of_the_test";
const usd = (dollars: number) => nanoUsd(BigInt(dollars) * 1_000_000_000n);
let fakeStripe: FakeStripe;
let gateways: [TestGateway, TestGateway];
let org: string;
let turn = 0;
let drop: () => Promise<void>;

beforeAll(async () => {
  const database = await (await testPostgres()).migrated();
  drop = () => database.drop();
  // Events go to the two alternately.
  fakeStripe = new FakeStripe({
    webhookSecret: WEBHOOK_SECRET,
    webhookUrl: () => `${gateways[turn++ % 2]?.url}/webhooks/stripe`,
  });
  const start = (keyOf?: TestGateway) =>
    startGateway({
      models: [],
      configure: (config) => {
        config.databaseUrl = database.url;
        // One address for both, because Stripe requires identical requests for one idempotency key.
        config.publicUrl = "https://gate.example.com";
        if (keyOf !== undefined) cpSync(join(keyOf.dataDir, "data.key"), join(config.dataDir, "data.key"));
        const stripe = { secretKey: "sk_test_1", webhookSecret: WEBHOOK_SECRET, apiUrl: fakeStripe.url };
        Object.assign(config.payments, { driver: "stripe", stripe });
        config.alerts.privateTargets = true;
      },
    });
  const first = await start();
  gateways = [first, await start(first)];
  org = (await first.customer({ usd: "0" })).organizationId;
}, 120_000);
afterAll(async () => {
  await gateways[0].assertSound();
  for (const gateway of gateways) await gateway.stop();
  await fakeStripe.stop();
  await drop();
});

const available = async (): Promise<number> =>
  Number((await gateways[1].ledger.balance(org))?.available ?? -1n) / 1e9;
const failures: unknown[] = [];
const failed = (error: unknown): number => failures.push(error);

test("one payment reported twenty times to two gateways credits once; its dispute takes it back once", async () => {
  const [first, second] = gateways;
  const form = { actor: byItself("person_1"), formKey: "form" };
  const input = { amount_usd: "25", keep_card: true };
  const orders = await Promise.all(
    [first, second, first, second].map(({ services }) => services.paymentService.buy(org, input, form)),
  );
  expect(new Set(orders.map(({ id }) => id)).size).toBe(1);
  const session = fakeStripe.session(orders[0]?.pay_url ?? "");
  const event = fakeStripe.paid(session);
  const answers = await Promise.all(Array.from({ length: 20 }, () => fakeStripe.deliver(event)));
  const outcomes = await Promise.all(
    answers.map(async (answer) => ((await answer.json()) as { outcome: string }).outcome),
  );
  expect(outcomes.filter((outcome) => outcome === "credited")).toHaveLength(1);
  expect(outcomes.filter((outcome) => outcome === "repeated")).toHaveLength(19);
  expect(await available()).toBe(25);
  const dispute = fakeStripe.disputed(fakeStripe.account.pay(session));
  await Promise.all([1, 2, 3, 4].map(() => fakeStripe.deliver(dispute)));
  expect(await available()).toBe(0);
});

/** An organization that paid with a stored card, and spent it; nobody took anything back. */
async function spentAll(): Promise<string> {
  const { organizationId } = await gateways[0].customer({ usd: "0" });
  const form = { actor: byItself("person_1"), formKey: "another form" };
  const input = { amount_usd: "25", keep_card: true };
  const { pay_url } = await gateways[0].services.paymentService.buy(organizationId, input, form);
  await fakeStripe.deliver(fakeStripe.paid(fakeStripe.session(pay_url ?? "")));
  await drain(gateways[0], organizationId, usd(25));
  return organizationId;
}

test("two gateways that top up concurrently charge once", async () => {
  org = await spentAll();
  const terms = { organizationId: org, enabled: true, threshold: usd(20), amount: usd(25), monthlyCap: null };
  const { automatic } = gateways[0].payments;
  await automatic.set(terms, await automatic.find(org));
  await Promise.all(
    gateways
      .flatMap(({ payments }) => Array.from({ length: 5 }, () => payments))
      .map((room) => room.runAutomatic(failed)),
  );
  expect(await available()).toBe(25);
  expect((await gateways[1].services.paymentService.autoTopUp(org)).spent_this_month_usd).toBe(
    "25.000000000",
  );
});

test("two gateways that top up concurrently stay within the month's cap", async () => {
  const terms = { organizationId: org, enabled: true, threshold: usd(50), amount: usd(50) };
  const { automatic } = gateways[0].payments;
  await automatic.set({ ...terms, monthlyCap: usd(100) }, await automatic.find(org));
  for (let round = 0; round < 3; round++) {
    await Promise.all(
      gateways
        .flatMap(({ payments }) => Array.from({ length: 5 }, () => payments))
        .map((room) => room.runAutomatic(failed)),
    );
    const charged = [...fakeStripe.account.payments.values()].filter(({ amount }) => amount === 5_000);
    expect([charged.length, await available()]).toEqual([1, round === 0 ? 75 : 25]);
    if (round === 0) await drain(gateways[0], org, usd(50));
  }
  // The gateways' own rounds open an order, too, and end it at once; until then it counts.
  const state = () => gateways[1].services.paymentService.autoTopUp(org);
  await waitFor(
    async () => (await state()).spent_this_month_usd === "75.000000000",
    "the end of such orders",
  );
  expect((await state()).last_failure?.reason).toBe("The monthly cap of $100.00 is reached.");
});

test("two gateways that top up concurrently keep to the hourly maximum of charges", async () => {
  const terms = { organizationId: org, enabled: true, threshold: usd(30), amount: usd(30), monthlyCap: null };
  const { automatic } = gateways[0].payments;
  await automatic.set(terms, await automatic.find(org));
  const charged = () => [...fakeStripe.account.payments.values()].filter(({ amount }) => amount === 3_000);
  for (let round = 0; round < 4; round++) {
    const before = charged().length;
    await Promise.all(
      gateways
        .flatMap(({ payments }) => Array.from({ length: 5 }, () => payments))
        .map((room) => room.runAutomatic(failed)),
    );
    if (charged().length > before) await drain(gateways[0], org, usd(30));
  }
  // Two of this hour belong to the stories before.
  expect(charged()).toHaveLength(2);
  const { last_failure } = await gateways[1].services.paymentService.autoTopUp(org);
  expect(last_failure?.reason).toContain("At most 4 automatic top-ups are made in an hour.");
});

test("one crossing seen by two gateways is one message, delivered by one of them", async () => {
  const receiver = startReceiver();
  const [first, second] = gateways;
  const made = await first.alerts.addWebhook(org, { name: "Pager", target: receiver.url });
  receiver.secret = made.secret;
  const condition = {
    kind: "balance_below",
    amount: usd(1000),
    percent: null,
    days: null,
    keyId: null,
  } as const;
  const terms = { ...condition, channels: [made.channel.id], enabled: true };
  await second.alerts.rules.add(org, terms, Date.now());
  await Promise.all(gateways.map(({ alerts }) => alerts.watch(failed)));
  await Promise.all(gateways.map(({ alerts }) => alerts.deliver()));
  // A gateway's own round may be delivering one of them.
  const states = async (): Promise<string[]> =>
    (await second.alerts.outbox.page(org, NEWEST, { limit: 10 })).rows.map(({ state }) => state);
  await reads(states, ["delivered", "delivered"]);
  expect(receiver.arrived).toMatchObject([{ genuine: true }]);
  expect((await second.services.alertService.rules(org)).data).toMatchObject([{ firing: true }]);
  await receiver.stop();
});

test("every change is in the log, and no failure goes unnoticed", async () => {
  const log = await auditLog(gateways[1].ledger, { organizationId: org, limit: 50 });
  expect(log.map(({ action }) => action)).toEqual(
    expect.arrayContaining(["order.create", "credits.purchase", "credits.chargeback"]),
  );
  expect(failures).toEqual([]);
});
