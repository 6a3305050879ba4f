// Alerts as stories: figures of a real ledger cross a threshold, and a customer's endpoint gets one signed message;
// if it does not accept it, the message is retried. Rounds are run by hand; the clock is the test's.
import { byItself } from "../../src/domain/actor.ts";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { type Condition, DASHBOARD, type Delivery } from "../../src/alerts/alert.ts";
import { PAUSES_MS } from "../../src/alerts/deliver.ts";
import { MESSAGES_A_DAY } from "../../src/alerts/watch.ts";
import { nanoUsd } from "../../src/domain/money.ts";
import { NEWEST } from "../../src/store/page.ts";
import { testClock } from "../support/clock.ts";
import { type Customer, hello, startGateway, type TestGateway } from "../support/gateway.ts";
import { MODELS } from "../support/models.ts";
import { type Receiver, startReceiver } from "./receiver.ts";

const clock = testClock();
let gateway: TestGateway;
let receiver: Receiver;
let customer: Customer;
let channelId: string;
const failures: unknown[] = [];
const usd = (dollars: number) => nanoUsd(BigInt(Math.round(dollars * 1e9)));
const nothing: Omit<Condition, "kind"> = { amount: null, percent: null, days: null, keyId: null };

beforeAll(async () => {
  clock.set("2031-03-10T10:00:00Z");
  gateway = await startGateway({
    clock,
    configure: (config) => {
      config.alerts.privateTargets = true;
    },
  });
});
afterAll(async () => {
  expect(failures).toEqual([]);
  await gateway.stop();
});
beforeEach(async () => {
  receiver = startReceiver();
  customer = await gateway.customer({ usd: "10" });
  const made = await gateway.alerts.addWebhook(customer.organizationId, {
    name: "Pager",
    target: receiver.url,
  });
  receiver.secret = made.secret;
  channelId = made.channel.id;
});
afterEach(() => receiver.stop());

const rule = (condition: Partial<Condition> & Pick<Condition, "kind">) =>
  gateway.alerts.rules.add(
    customer.organizationId,
    { ...nothing, ...condition, channels: [channelId], enabled: true },
    clock.nowMs(),
  );
const round = async () => {
  await gateway.alerts.watch((error) => failures.push(error));
  await gateway.alerts.deliver();
};
const listed = async (): Promise<Delivery[]> =>
  (await gateway.alerts.outbox.page(customer.organizationId, NEWEST, { limit: 100 })).rows;
const ofChannel = async () => (await listed()).filter((delivery) => delivery.channelId === channelId);
/** Spends about this much, as requests do. */
async function spend(dollars: number): Promise<void> {
  const { organizationId } = customer;
  const before = await gateway.balance(customer);
  await gateway.chat(customer, hello());
  const cost = before.available - (await gateway.balance(customer)).available;
  // A chargeback takes the rest: for the balance it makes no difference.
  const rest = usd(dollars) - cost;
  await gateway.ledger.reverse(
    {
      organizationId,
      amount: nanoUsd(rest),
      kind: "chargeback",
      target: "pi",
      source: "test",
      externalId: crypto.randomUUID(),
    },
    byItself("test"),
  );
}

test("a balance that falls below the threshold is one message, signed, and one row on the dashboard", async () => {
  const made = await rule({ kind: "balance_below", amount: usd(5) });
  await round();
  expect(receiver.arrived).toEqual([]);
  await spend(6);
  await round();
  await round();
  expect(receiver.arrived).toHaveLength(1);
  const [message] = receiver.arrived;
  expect(message).toMatchObject({
    genuine: true,
    body: {
      type: "alert.balance_below",
      data: {
        organization: customer.organizationId,
        rule: made.id,
        text: "The balance is $4.00, below $5.00.",
        balance_usd: "4.000000000",
        threshold_usd: "5.000000000",
      },
    },
  });
  const rows = await listed();
  expect(new Map(rows.map(({ channelId: channel, state }) => [channel, state]))).toEqual(
    new Map([
      [channelId, "delivered"],
      ["dashboard", "delivered"],
    ]),
  );
  expect((await gateway.alerts.rules.find(customer.organizationId, made.id))?.firing).toBe(true);
});

test("after a top-up the next crossing is reported again", async () => {
  await rule({ kind: "balance_below", amount: usd(5) });
  await spend(6);
  await round();
  await gateway.admin("POST", "/credits", { org: customer.organizationId, usd: "5", kind: "purchase" });
  await round();
  await spend(6);
  await round();
  expect(receiver.arrived.map(({ body }) => body.type)).toEqual([
    "alert.balance_below",
    "alert.balance_below",
  ]);
});

test("credits held by running requests trigger no alert", async () => {
  await rule({ kind: "balance_below", amount: usd(9.99) });
  const slow = { ...hello(), max_tokens: 1000 };
  const running = Promise.all(Array.from({ length: 5 }, () => gateway.chat(customer, slow)));
  await round();
  await running;
  expect(receiver.arrived).toEqual([]);
});

test("a key at a share of its limit triggers once a month; a revoked key does not", async () => {
  await rule({ kind: "key_limit", percent: 1 });
  const limited = await gateway.key(customer.organizationId, { limitUsd: "0.0001" });
  await gateway.chat(limited, hello());
  await round();
  await round();
  expect(receiver.arrived.map(({ body }) => body.data["key"])).toEqual([limited.keyId]);
  expect(receiver.arrived[0]?.body.data).toMatchObject({ month: "2031-03", percent: 1, key_name: "test" });
  expect(JSON.stringify(receiver.arrived[0]?.body)).toContain(" in March 2031, at least 1 %.");
  const daily = await gateway.key(customer.organizationId, { limitUsd: "1000" });
  await gateway.admin("POST", `/keys/${daily.keyId}/update`, {
    day_limit_usd: "0.0001",
    week_limit_usd: "1000",
  });
  await gateway.chat(daily, hello());
  await round();
  expect(receiver.arrived[1]?.body.data).toMatchObject({
    key: daily.keyId,
    period: "day",
    limit_usd: "0.000100000",
  });
  await gateway.admin("POST", `/keys/${limited.keyId}/revoke`);
  await round();
  expect(receiver.arrived).toHaveLength(2);
});

test("spend per day and days left are computed from the ledger's charges", async () => {
  const week = await gateway.customer({ usd: "5" });
  customer = { ...week };
  const made = await gateway.alerts.addWebhook(customer.organizationId, { name: "W", target: receiver.url });
  [channelId, receiver.secret] = [made.channel.id, made.secret];
  await rule({ kind: "spend_per_day", amount: usd(0.000000001) });
  await rule({ kind: "days_left_below", days: 365 });
  await round();
  expect(receiver.arrived).toEqual([]);
  await gateway.chat(customer, hello());
  const { available } = await gateway.balance(customer);
  await gateway.ledger.reverse(
    {
      organizationId: customer.organizationId,
      amount: nanoUsd(available - 1n),
      kind: "chargeback",
      target: "pi",
      source: "test",
      externalId: crypto.randomUUID(),
    },
    byItself("test"),
  );
  await round();
  expect(receiver.arrived.map(({ body }) => body.type).toSorted()).toEqual([
    "alert.days_left_below",
    "alert.spend_per_day",
  ]);
});

test("routes of models in use: a release about to expire, and an expired one", async () => {
  await gateway.chat(customer, hello());
  await rule({ kind: "route_not_live" });
  await round();
  expect(receiver.arrived).toEqual([]);
  clock.advance(28.5 * 86_400_000);
  await gateway.chat(customer, hello());
  await round();
  const about = () => receiver.arrived.map(({ body }) => [body.type, body.data["state"]]);
  expect(about()).toEqual([["alert.route_not_live", "live"]]);
  clock.advance(2 * 86_400_000);
  await round();
  expect(about()).toEqual([
    ["alert.route_not_live", "live"],
    ["alert.route_not_live", "stale"],
  ]);
  for (const manifest of MODELS)
    await gateway.publish({ ...manifest, version: (manifest.version ?? 1) + 10 }, { nowMs: clock.nowMs() });
});

test("a receiver that is down is retried with growing pauses, then given up, with each attempt on record", async () => {
  receiver.answers = 500;
  const sent = await gateway.alerts.sendTest(customer.organizationId, channelId);
  for (const pauseMs of PAUSES_MS) {
    await gateway.alerts.deliver();
    await gateway.alerts.deliver();
    const [waiting] = await ofChannel();
    expect(waiting).toMatchObject({ state: "waiting", status: 500, error: "It answered 500." });
    clock.advance(pauseMs + 1);
  }
  await gateway.alerts.deliver();
  const [given] = await ofChannel();
  expect(given).toMatchObject({
    id: sent.id,
    state: "failed",
    tries: PAUSES_MS.length + 1,
    nextTryAtMs: null,
  });
  expect(await gateway.alerts.outbox.attempts(sent.id)).toHaveLength(PAUSES_MS.length + 1);
  expect(new Set(receiver.arrived.map(({ id }) => id))).toEqual(new Set([sent.id]));
  clock.advance(86_400_000);
  await gateway.alerts.deliver();
  expect(receiver.arrived).toHaveLength(PAUSES_MS.length + 1);
});

test("a receiver that comes back gets it; redirects are not followed; 410 ends it", async () => {
  receiver.answers = 302;
  await gateway.alerts.sendTest(customer.organizationId, channelId);
  await gateway.alerts.deliver();
  expect(receiver.arrived).toHaveLength(1);
  expect((await ofChannel())[0]?.error).toContain("redirects are not followed");
  receiver.answers = 200;
  clock.advance(5_001);
  await gateway.alerts.deliver();
  expect((await ofChannel())[0]).toMatchObject({ state: "delivered", tries: 2, status: 200, error: null });
  receiver.answers = 410;
  await gateway.alerts.sendTest(customer.organizationId, channelId);
  await gateway.alerts.deliver();
  expect((await ofChannel()).map(({ state }) => state).toSorted()).toEqual(["delivered", "failed"]);
});

test("a crash between sending and noting sends the same message again, not another one", async () => {
  const sent = await gateway.alerts.sendTest(customer.organizationId, channelId);
  const { outbox } = gateway.alerts;
  const tried = outbox.tried.bind(outbox);
  outbox.tried = () => Promise.reject(new Error("killed here"));
  expect(await gateway.alerts.deliver().catch(() => "died")).toBe("died");
  outbox.tried = tried;
  await gateway.alerts.deliver();
  expect(receiver.arrived).toHaveLength(1);
  clock.advance(60_001);
  await gateway.alerts.deliver();
  expect(receiver.arrived.map(({ id }) => id)).toEqual([sent.id, sent.id]);
  expect((await ofChannel())[0]).toMatchObject({ state: "delivered", tries: 2 });
});

test("two concurrent rounds report one crossing once", async () => {
  await rule({ kind: "balance_below", amount: usd(20) });
  await Promise.all([1, 2, 3].map(() => gateway.alerts.watch((error) => failures.push(error))));
  await gateway.alerts.deliver();
  expect(receiver.arrived).toHaveLength(1);
});

test("a removed channel gets nothing more, and its secret is deleted", async () => {
  await gateway.alerts.sendTest(customer.organizationId, channelId);
  await gateway.alerts.rules.removeChannel(customer.organizationId, channelId, clock.nowMs());
  await gateway.alerts.deliver();
  expect(receiver.arrived).toEqual([]);
  expect((await ofChannel())[0]).toMatchObject({ state: "failed", error: "The channel was removed." });
});

test("rules and channels of another organization do not exist", async () => {
  const other = (await gateway.customer()).organizationId;
  const { rules } = gateway.alerts;
  const made = await rule({ kind: "balance_below", amount: usd(1) });
  expect(await rules.find(other, made.id)).toBeNull();
  expect(await rules.change(other, made.id, { from: made, to: { ...made, enabled: false } })).toBeNull();
  expect(await rules.remove(other, made.id)).toBe(false);
  expect(await rules.channel(other, channelId)).toBeNull();
  expect(await rules.removeChannel(other, channelId, 0)).toBe(false);
  expect((await rules.find(customer.organizationId, made.id))?.enabled).toBe(true);
});

test("messages older than 90 days are deleted, with their attempts; younger ones stay", async () => {
  await gateway.alerts.sendTest(customer.organizationId, channelId);
  await round();
  const [old] = await ofChannel();
  clock.advance(91 * 86_400_000);
  await gateway.alerts.sendTest(customer.organizationId, channelId);
  await round();
  const left = await ofChannel();
  expect(left.map(({ kind }) => kind)).toEqual(["test"]);
  expect(left[0]?.id).not.toBe(old?.id);
  expect(await gateway.alerts.outbox.attempts(old?.id ?? "")).toEqual([]);
  expect(await gateway.alerts.outbox.attempts(left[0]?.id ?? "")).toHaveLength(1);
});

test("an organization gets only so many messages a day; what still holds is reported when there is room again", async () => {
  const { organizationId } = customer;
  const earlier = {
    organizationId,
    ruleId: null,
    kind: "test" as const,
    text: "earlier",
    payload: () => "{}",
  };
  const written = Array.from({ length: MESSAGES_A_DAY - 1 }, () =>
    gateway.alerts.outbox.send(earlier, DASHBOARD, clock.nowMs()),
  );
  await Promise.all(written);
  await rule({ kind: "balance_below", amount: usd(20) });
  await round();
  expect(await ofChannel()).toEqual([]); // two messages, and room for one
  clock.advance(86_400_001);
  await round();
  await round();
  expect((await ofChannel()).map(({ kind }) => kind)).toEqual(["balance_below"]);
});

test("a damaged rule and a damaged channel are named, and keep no other message from its receiver", async () => {
  const second = await gateway.alerts.addWebhook(customer.organizationId, {
    name: "Other",
    target: receiver.url,
  });
  const damaged = await rule({ kind: "balance_below", amount: usd(7) });
  const made = await rule({ kind: "balance_below", amount: usd(5) });
  const toDamaged = { ...nothing, kind: "balance_below" as const, amount: usd(6), enabled: true };
  const { organizationId } = customer;
  await gateway.alerts.rules.add(
    organizationId,
    { ...toDamaged, channels: [second.channel.id] },
    clock.nowMs(),
  );
  await gateway.tamper(`UPDATE alert_rule SET channels = '["' WHERE rule_id = ?1`, damaged.id);
  await gateway.tamper(
    "UPDATE alert_channel SET secret = substr(secret, 1, 10) || 'AAAA' || substr(secret, 15) WHERE channel_id = ?1",
    second.channel.id,
  );
  await spend(6);
  const told: unknown[] = [];
  await gateway.alerts.watch((error) => told.push(error));
  await gateway.alerts.deliver();
  expect(told.map(String)).toEqual([expect.stringContaining(`alert rule ${damaged.id} cannot be read`)]);
  expect(receiver.arrived).toEqual([
    expect.objectContaining({
      body: expect.objectContaining({ data: expect.objectContaining({ rule: made.id }) }),
    }),
  ]);
  const failed = (await listed()).find((delivery) => delivery.channelId === second.channel.id);
  expect(failed).toMatchObject({ state: "failed", error: expect.stringContaining("damaged") });
  // Its own page shows it, so that it can be removed.
  const rules = await gateway.alerts.rules.ofOrganization(organizationId);
  expect(rules.find(({ id }) => id === damaged.id)?.channels).toEqual([]);
  expect(await gateway.alerts.rules.remove(organizationId, damaged.id)).toBe(true);
});
