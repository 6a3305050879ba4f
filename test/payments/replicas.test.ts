// Two gateways on one PostgreSQL: payments, automatic top-ups and alerts happen once, whoever of the two sees them.
import { byItself } from "../../src/contract/actor.ts";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { nanoUsd } from "../../src/contract/money.ts";
import { StripeDouble } from "../../src/payments/double/server.ts";
import { NEWEST } from "../../src/store/page.ts";
import { startReceiver } from "../alerts/receiver.ts";
import { startGateway, type TestGateway } from "../support/gateway.ts";
import { testPostgres } from "../support/postgres.ts";
import { cpSync } from "node:fs";
import { join } from "node:path";

const WEBHOOK_SECRET = "whsec_of_the_test";
const usd = (dollars: number) => nanoUsd(BigInt(dollars) * 1_000_000_000n);
let double: StripeDouble;
let gateways: [TestGateway, TestGateway];
let org: string;
let turn = 0;
let drop: () => Promise<void>;

beforeAll(async () => {
  const database = await (await testPostgres()).database();
  drop = () => database.drop();
  // Events go to the two in turns.
  double = new StripeDouble({
    webhookSecret: WEBHOOK_SECRET,
    webhookUrl: () => `${gateways[turn++ % 2]?.url}/webhooks/stripe`,
  });
  const start = (keyOf?: TestGateway) =>
    startGateway({
      models: [],
      configure: (config) => {
        config.databaseUrl = database.url;
        if (keyOf !== undefined) cpSync(join(keyOf.dataDir, "data.key"), join(config.dataDir, "data.key"));
        const stripe = { secretKey: "sk_test_1", webhookSecret: WEBHOOK_SECRET, apiUrl: double.url };
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
  await double.stop();
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
    [first, second, first, second].map(({ desks }) => desks.paymentDesk.buy(org, input, form)),
  );
  expect(new Set(orders.map(({ id }) => id)).size).toBe(1);
  const session = double.session(orders[0]?.pay_url ?? "");
  const event = double.paid(session);
  const answers = await Promise.all(Array.from({ length: 20 }, () => double.deliver(event)));
  const outcomes = await Promise.all(
    answers.map(async (answer) => ((await answer.json()) as { outcome: string }).outcome),
  );
  expect(outcomes.filter((outcome) => outcome === "credited")).toHaveLength(1);
  expect(outcomes.filter((outcome) => outcome === "repeated")).toHaveLength(19);
  expect(await available()).toBe(25);
  const dispute = double.disputed(double.account.pay(session));
  await Promise.all([1, 2, 3, 4].map(() => double.deliver(dispute)));
  expect(await available()).toBe(0);
});

test("two gateways that top up at once charge once", async () => {
  const terms = { organizationId: org, enabled: true, threshold: usd(20), amount: usd(25), monthlyCap: null };
  const { automatic } = gateways[0].payments;
  await automatic.set(terms, await automatic.find(org));
  await Promise.all(
    gateways
      .flatMap(({ payments }) => Array.from({ length: 5 }, () => payments))
      .map((room) => room.runAutomatic(failed)),
  );
  expect(await available()).toBe(25);
  expect((await gateways[1].desks.paymentDesk.autoTopUp(org)).spent_this_month_usd).toBe("25.000000000");
});

test("two gateways that top up at once stay within the month's cap", async () => {
  const terms = { organizationId: org, enabled: true, threshold: usd(500), amount: usd(25) };
  const { automatic } = gateways[0].payments;
  await automatic.set({ ...terms, monthlyCap: usd(100) }, await automatic.find(org));
  for (let round = 0; round < 4; round++)
    await Promise.all(
      gateways
        .flatMap(({ payments }) => Array.from({ length: 5 }, () => payments))
        .map((room) => room.runAutomatic(failed)),
    );
  expect(await available()).toBe(100);
  const { last_failure, spent_this_month_usd } = await gateways[1].desks.paymentDesk.autoTopUp(org);
  expect([spent_this_month_usd, last_failure?.reason]).toEqual([
    "100.000000000",
    "The monthly cap of $100.00 is reached.",
  ]);
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
  expect(receiver.arrived).toMatchObject([{ genuine: true }]);
  const { rows } = await second.alerts.outbox.page(org, NEWEST, { limit: 10 });
  expect(rows.map(({ state }) => state)).toEqual(["delivered", "delivered"]);
  expect((await second.desks.alertDesk.rules(org)).data).toMatchObject([{ firing: true }]);
  await receiver.stop();
});

test("every change is in the log, and nothing failed unseen", async () => {
  const log = await gateways[1].ledger.auditLog({ organizationId: org, limit: 50 });
  expect(log.map(({ action }) => action)).toEqual(
    expect.arrayContaining(["order.create", "credits.purchase", "credits.chargeback"]),
  );
  expect(failures).toEqual([]);
});
