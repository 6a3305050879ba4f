// Faults 67 and 68 of the design: payment events that are replayed, reordered, forged, wrong, or interrupted by a
// crash. Everything runs over HTTP against a real gateway; the payment service is the fake Stripe.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { nanoUsd } from "../../src/domain/money.ts";
import type { OrderState } from "../../src/payments/order.ts";
import { ServiceFailure } from "../../src/payments/driver.ts";
import { NEWEST } from "../../src/store/page.ts";
import { testClock } from "../support/clock.ts";
import { hello } from "../support/gateway.ts";
import { type Paying, startPaying, WEBHOOK_SECRET } from "./paying.ts";

const clock = testClock();
let paying: Paying;
let org: string;
beforeAll(async () => {
  paying = await startPaying(clock);
});
afterAll(async () => {
  await paying.gateway.assertSound();
  await paying.stop();
});
beforeEach(async () => {
  org = (await paying.gateway.customer({ usd: "0" })).organizationId;
});

const stateOf = async (orderId: string): Promise<OrderState | undefined> =>
  (await paying.gateway.payments.orders.find(orderId))?.state;
const told = async (response: Response): Promise<[number, string]> => {
  const body = (await response.json()) as { outcome?: string; error?: { code: string } };
  return [response.status, body.outcome ?? body.error?.code ?? ""];
};

test("a paid checkout credits exactly its order, and is acknowledged once that is durable", async () => {
  const { order, session } = await paying.order(org, "12.34");
  expect(order).toMatchObject({ state: "open", sessionId: session.id });
  expect(await told(await paying.fakeStripe.deliver(paying.fakeStripe.paid(session)))).toEqual([
    200,
    "credited",
  ]);
  expect([await paying.available(org), await stateOf(order.id)]).toEqual([12.34, "credited"]);
  expect((await paying.gateway.ledger.balance(org))?.paidWorkspace).toBe(true);
});

test("one event twenty times at once credits once", async () => {
  const { session } = await paying.order(org);
  const event = paying.fakeStripe.paid(session);
  const answers = await Promise.all(Array.from({ length: 20 }, () => paying.fakeStripe.deliver(event)));
  const outcomes = await Promise.all(answers.map(told));
  expect(outcomes.filter(([, outcome]) => outcome === "credited")).toHaveLength(1);
  expect(outcomes.filter(([status, outcome]) => status === 200 && outcome === "repeated")).toHaveLength(19);
  expect(await paying.available(org)).toBe(10);
});

test("two events of one payment credit once", async () => {
  const { session } = await paying.order(org);
  await paying.fakeStripe.deliver(paying.fakeStripe.paid(session));
  const second = paying.fakeStripe.event("checkout.session.async_payment_succeeded", session);
  expect(await told(await paying.fakeStripe.deliver(second))).toEqual([200, "repeated"]);
  const payment = paying.fakeStripe.account.pay(session);
  const third = paying.fakeStripe.event("payment_intent.succeeded", payment);
  expect(await told(await paying.fakeStripe.deliver(third))).toEqual([200, "ignored"]);
  expect(await paying.available(org)).toBe(10);
});

test("forged, changed, unsigned and unreadable deliveries are not believed", async () => {
  const { order, session } = await paying.order(org);
  const event = paying.fakeStripe.paid(session);
  const body = JSON.stringify(event);
  const now = Math.floor(clock.nowMs() / 1000);
  expect(await told(await paying.fakeStripe.deliver(event, { secret: "whsec_other" }))).toEqual([
    400,
    "webhook_not_verified",
  ]);
  const hmac = new Bun.CryptoHasher("sha256", WEBHOOK_SECRET).update(`${now}.${body}`).digest("hex");
  const dearer = body.replace('"amount_total":1000', '"amount_total":9000');
  for (const [payload, signature] of [
    [dearer, `t=${now},v1=${hmac}`],
    [body, `t=${now},v1=${"0".repeat(64)}`],
    [body, `t=${now},v0=${hmac}`],
    [body, `t=${now}`],
    [body, "nonsense"],
    [`${body} `, `t=${now},v1=${hmac}`],
  ] as const)
    expect((await told(await paying.fakeStripe.send(payload, signature)))[1]).toBe("webhook_not_verified");
  const unsigned = await fetch(`${paying.gateway.url}/webhooks/stripe`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  expect(await told(unsigned)).toEqual([400, "webhook_not_verified"]);
  const none = new Bun.CryptoHasher("sha256", WEBHOOK_SECRET).update(`${now}.not json`).digest("hex");
  expect((await paying.fakeStripe.send("not json", `t=${now},v1=${none}`)).status).toBe(400);
  expect([await paying.available(org), await stateOf(order.id)]).toEqual([0, "open"]);
  // The genuine bytes are still accepted.
  expect((await paying.fakeStripe.send(body, `t=${now},v1=${hmac}`)).status).toBe(200);
});

test("an event of an unknown shape, or not an event, is ignored: nothing is booked, and nothing fails", async () => {
  const { order, session } = await paying.order(org);
  const paid = paying.fakeStripe.paid(session);
  await paying.fakeStripe.deliver(paid);
  const dispute = paying.fakeStripe.event("charge.dispute.created", {
    id: "dp_shape",
    amount: 400,
    currency: "usd",
    status: "needs_response",
    reason: "fraudulent",
    payment_intent: (await paying.gateway.payments.orders.find(order.id))?.paymentId ?? "",
  } as never);
  const odd = [null, true, -1, 0, 0.5, 2 ** 53, "", "\0", "\ud800", "a".repeat(999), [], {}, { id: 5 }];
  const told: [string, object][] = [
    [dispute, ["id", "amount", "currency", "status"]],
    [paying.fakeStripe.event("checkout.session.expired", session), ["id"]],
    [paid, ["id", "client_reference_id", "metadata", "amount_total", "currency", "payment_intent"]],
    [
      paying.fakeStripe.event("payment_intent.payment_failed", session as never),
      ["id", "last_payment_error"],
    ],
    [paying.fakeStripe.event("refund.updated", { id: "re_shape" } as never), ["id"]],
  ].flatMap(([event, members]) =>
    (members as string[]).flatMap((name) =>
      odd.map((value, nth): [string, object] => {
        const { data, ...rest } = event as { id: string; type: string; data: { object: object } };
        const id = `evt_shape_${rest.type}_${name}_${nth}`.replaceAll(".", "_");
        return [
          `${rest.type} ${name} ${nth}`,
          { ...rest, id, data: { object: { ...data.object, [name]: value } } },
        ];
      }),
    ),
  );
  for (const value of [...odd, undefined])
    told.push(["id", { ...dispute, id: value }], ["data", { ...dispute, id: "evt_no_data", data: value }]);
  const failed: string[] = [];
  for (const [what, event] of told) {
    const { status } = await paying.fakeStripe.deliver(event as typeof paid);
    if (status >= 500 && status !== 503) failed.push(`${what}: ${status}`);
  }
  expect(failed).toEqual([]);
  expect([await paying.available(org), await stateOf(order.id)]).toEqual([10, "credited"]);
  await paying.gateway.assertSound();
});

test("a signature from more than five minutes ago, or from the future, is refused", async () => {
  const { session } = await paying.order(org);
  const event = paying.fakeStripe.paid(session);
  const minutes = (count: number) => ({ signedAtMs: clock.nowMs() + count * 60_000 });
  expect((await paying.fakeStripe.deliver(event, minutes(-6))).status).toBe(400);
  expect((await paying.fakeStripe.deliver(event, minutes(6))).status).toBe(400);
  expect(await paying.available(org)).toBe(0);
  expect((await paying.fakeStripe.deliver(event, minutes(-4))).status).toBe(200);
});

test("another amount, currency, organization or session than ordered is refused and recorded", async () => {
  const other = (await paying.gateway.customer({ usd: "0" })).organizationId;
  const { order, session } = await paying.order(org);
  const theirs = await paying.order(other);
  paying.fakeStripe.account.pay(session);
  const wrong: object[] = [
    { amount_total: 100_000 },
    { amount_total: 999 },
    { currency: "eur" },
    { metadata: { ...session.metadata, organization: other } },
    { metadata: {} },
    { id: "cs_test_another" },
    { client_reference_id: theirs.order.id },
    { client_reference_id: "ord_nobody" },
  ];
  for (const change of wrong) {
    const event = paying.fakeStripe.event("checkout.session.completed", { ...session, ...change });
    expect(await told(await paying.fakeStripe.deliver(event))).toEqual([422, "webhook_event_refused"]);
  }
  expect([await paying.available(org), await paying.available(other)]).toEqual([0, 0]);
  expect(await stateOf(order.id)).toBe("open");
  const events = await paying.gateway.payments.events.page(null, NEWEST, { limit: 8 });
  expect(new Set(events.rows.map(({ outcome }) => outcome))).toEqual(new Set(["refused"]));
});

test("payments of others who share the account are ignored", async () => {
  const { session } = await paying.order(org);
  paying.fakeStripe.account.pay(session);
  for (const reference of [null, "invoice-17"]) {
    const theirs = { ...session, id: "cs_theirs", client_reference_id: reference };
    const event = paying.fakeStripe.event("checkout.session.completed", theirs);
    expect(await told(await paying.fakeStripe.deliver(event))).toEqual([200, "ignored"]);
  }
  const dispute = paying.fakeStripe.disputed({
    ...paying.fakeStripe.account.pay(session),
    id: paying.fakeStripe.account.charge(new URLSearchParams("amount=500"), "succeeded").id,
  });
  expect(await told(await paying.fakeStripe.deliver(dispute))).toEqual([200, "ignored"]);
});

test("a page that is unpaid, expired or failed credits nothing; paying late still does", async () => {
  const { order, session } = await paying.order(org);
  const unpaid = paying.fakeStripe.event("checkout.session.completed", session);
  expect(await told(await paying.fakeStripe.deliver(unpaid))).toEqual([200, "ignored"]);
  const expired = paying.fakeStripe.event("checkout.session.expired", session);
  expect(await told(await paying.fakeStripe.deliver(expired))).toEqual([200, "expired"]);
  expect([await paying.available(org), await stateOf(order.id)]).toEqual([0, "expired"]);
  expect(await told(await paying.fakeStripe.deliver(paying.fakeStripe.paid(session)))).toEqual([
    200,
    "credited",
  ]);
  // Redelivered after the payment: reordered, and without effect.
  expect(await told(await paying.fakeStripe.deliver(expired))).toEqual([200, "ignored"]);
  expect([await paying.available(org), await stateOf(order.id)]).toEqual([10, "credited"]);
});

test("a crash after crediting and before the acknowledgement: the redelivery finds it credited", async () => {
  const { order, session } = await paying.order(org);
  const { ledger, payments } = paying.gateway;
  const credited = payments.orders.credited.bind(payments.orders);
  payments.orders.credited = () => Promise.reject(new Error("killed here"));
  const event = paying.fakeStripe.paid(session);
  expect((await paying.fakeStripe.deliver(event)).status).toBe(500);
  payments.orders.credited = credited;
  expect([await paying.available(org), await stateOf(order.id)]).toEqual([10, "open"]);
  expect(await told(await paying.fakeStripe.deliver(event))).toEqual([200, "repeated"]);
  expect([await paying.available(org), await stateOf(order.id)]).toEqual([10, "credited"]);
  expect((await ledger.balance(org))?.purchased).toBe(nanoUsd(10_000_000_000n));
});

test("a crash between receiving and crediting: the redelivery credits, once", async () => {
  const { session } = await paying.order(org);
  const { ledger } = paying.gateway;
  const topUp = ledger.topUp.bind(ledger);
  ledger.topUp = () => Promise.reject(new Error("killed here"));
  const event = paying.fakeStripe.paid(session);
  expect((await paying.fakeStripe.deliver(event)).status).toBe(500);
  ledger.topUp = topUp;
  expect(await paying.available(org)).toBe(0);
  expect(await told(await paying.fakeStripe.deliver(event))).toEqual([200, "credited"]);
  expect(await told(await paying.fakeStripe.deliver(event))).toEqual([200, "repeated"]);
  expect(await paying.available(org)).toBe(10);
});

test("a form sent twice, also at once, orders once; with another amount it is refused", async () => {
  const before = paying.fakeStripe.account.sessions.size;
  const orders = await Promise.all([1, 2, 3].map(() => paying.order(org, "10", { formKey: "form-1" })));
  const again = await paying.order(org, "10", { formKey: "form-1" });
  expect(new Set([...orders, again].map(({ order }) => order.id)).size).toBe(1);
  expect(paying.fakeStripe.account.sessions.size - before).toBe(1);
  expect(paying.order(org, "11", { formKey: "form-1" })).rejects.toThrow("form_reused");
});

test.each(["4.99", "10000.01", "5.001", "0"])("an order of $%s is refused", async (usd) => {
  expect(paying.order(org, usd)).rejects.toThrow("wrong_amount");
});

test("a dispute becomes a chargeback once, and winning it gives the credits back", async () => {
  const { session } = await paying.order(org);
  await paying.fakeStripe.deliver(paying.fakeStripe.paid(session));
  const payment = paying.fakeStripe.account.pay(session);
  const dispute = paying.fakeStripe.disputed(payment);
  expect(await told(await paying.fakeStripe.deliver(dispute))).toEqual([200, "taken_back"]);
  expect(await told(await paying.fakeStripe.deliver(dispute))).toEqual([200, "repeated"]);
  const withdrawn = {
    ...paying.fakeStripe.event("charge.dispute.funds_withdrawn", dispute.data.object as object),
  };
  expect(await told(await paying.fakeStripe.deliver(withdrawn))).toEqual([200, "repeated"]);
  expect([await paying.available(org), await paying.debt(org)]).toEqual([0, 0]);
  const won = paying.fakeStripe.event("charge.dispute.funds_reinstated", dispute.data.object as object);
  expect(await told(await paying.fakeStripe.deliver(won))).toEqual([200, "returned"]);
  expect(await told(await paying.fakeStripe.deliver(won))).toEqual([200, "repeated"]);
  expect(await paying.available(org)).toBe(10);
});

describe("a dispute that takes its money again after it gave it back", () => {
  type Move = "withdrawn" | "reinstated";
  /** A paid order of ten dollars, some of it spent, and the events of a dispute of several rounds. */
  async function story() {
    const { session } = await paying.order(org);
    await paying.fakeStripe.deliver(paying.fakeStripe.paid(session));
    const payment = paying.fakeStripe.account.pay(session);
    const customer = await paying.gateway.key(org);
    expect((await paying.gateway.chat(customer, hello())).status).toBe(200);
    const spent = Number((await paying.gateway.balance(customer)).spent) / 1e9;
    const created = paying.fakeStripe.disputed(payment);
    const move = (how: Move) =>
      paying.fakeStripe.event(`charge.dispute.funds_${how}`, created.data.object as object);
    const deliver = async (event: object) => (await told(await paying.fakeStripe.deliver(event)))[1];
    const balance = async () => [await paying.available(org), await paying.debt(org)];
    const lost = [0, spent];
    const kept = [await paying.available(org), 0];
    return { created, move, deliver, balance, lost, kept };
  }

  test("is charged back each time once, however often each event comes; the return pays the debt", async () => {
    const { created, move, deliver, balance, lost, kept } = await story();
    expect([await deliver(created), await balance()]).toEqual(["taken_back", lost]);
    const moves: Move[] = ["withdrawn", "reinstated", "withdrawn", "reinstated", "withdrawn"];
    const outcomes: string[] = [];
    for (const event of moves.map(move)) {
      outcomes.push(await deliver(event));
      expect(await deliver(event)).toBe("repeated");
      expect(await deliver(created)).toBe("repeated");
      expect(await balance()).toEqual(outcomes.at(-1) === "returned" ? kept : lost);
    }
    expect(outcomes).toEqual(["repeated", "returned", "taken_back", "returned", "taken_back"]);
  });

  test("in any order of delivery, concurrently and repeated: the result is the same", async () => {
    for (const seed of [1, 2, 3, 4]) {
      org = (await paying.gateway.customer({ usd: "0" })).organizationId;
      const { created, move, deliver, balance, lost } = await story();
      const events = [created, ...(["withdrawn", "reinstated", "withdrawn"] as const).map(move)];
      const turned = events.toSorted((a, b) =>
        a.id.charCodeAt(8 + seed) < b.id.charCodeAt(8 + seed) ? -1 : 1,
      );
      await Promise.all(turned.map(deliver));
      for (let again = 0; again < 3; again++) for (const event of turned) await deliver(event);
      expect(await balance()).toEqual(lost);
      expect(await Promise.all(events.map(deliver))).toEqual(events.map(() => "repeated"));
    }
  });
});

test("a dispute that comes before its payment, or ends before it began, is to be redelivered", async () => {
  const { session } = await paying.order(org);
  const payment = paying.fakeStripe.account.pay(session);
  const dispute = paying.fakeStripe.disputed(payment);
  const won = paying.fakeStripe.event("charge.dispute.funds_reinstated", dispute.data.object as object);
  expect(await told(await paying.fakeStripe.deliver(dispute))).toEqual([409, "webhook_event_too_early"]);
  await paying.fakeStripe.deliver(paying.fakeStripe.event("checkout.session.completed", session));
  expect(await told(await paying.fakeStripe.deliver(won))).toEqual([409, "webhook_event_too_early"]);
  expect(await paying.available(org)).toBe(10);
  expect(await told(await paying.fakeStripe.deliver(dispute))).toEqual([200, "taken_back"]);
  expect(await told(await paying.fakeStripe.deliver(won))).toEqual([200, "returned"]);
  expect(await paying.available(org)).toBe(10);
});

test("an inquiry moves nothing; a refund takes back its part; more than was paid is refused", async () => {
  const { session } = await paying.order(org);
  await paying.fakeStripe.deliver(paying.fakeStripe.paid(session));
  const payment = paying.fakeStripe.account.pay(session);
  const inquiry = paying.fakeStripe.disputed(payment, "warning_needs_response");
  expect(await told(await paying.fakeStripe.deliver(inquiry))).toEqual([200, "ignored"]);
  const refund = paying.fakeStripe.refunded(payment, 400);
  expect(await told(await paying.fakeStripe.deliver(refund))).toEqual([200, "taken_back"]);
  const updated = paying.fakeStripe.event("charge.refund.updated", refund.data.object as object);
  expect(await told(await paying.fakeStripe.deliver(updated))).toEqual([200, "repeated"]);
  expect(await paying.available(org)).toBe(6);
  expect(await told(await paying.fakeStripe.deliver(paying.fakeStripe.refunded(payment, 1001)))).toEqual([
    422,
    "webhook_event_refused",
  ]);
  expect(await paying.available(org)).toBe(6);
});

test("an unreachable service orders nothing; the same form works when it is back", async () => {
  paying.fakeStripe.away = true;
  const form = { formKey: "form-2" };
  expect(await paying.order(org, "20", form).catch((error: unknown) => error)).toBeInstanceOf(ServiceFailure);
  paying.fakeStripe.away = false;
  const { order, session } = await paying.order(org, "20", form);
  expect(await told(await paying.fakeStripe.deliver(paying.fakeStripe.paid(session)))).toEqual([
    200,
    "credited",
  ]);
  const orders = await paying.gateway.payments.orders.page(org, NEWEST, { limit: 10 });
  expect(orders.rows.map(({ id, state }) => [id, state])).toEqual([[order.id, "credited"]]);
});

test("who disputes what was spent already owes it: requests stop until it is paid", async () => {
  const { session } = await paying.order(org);
  await paying.fakeStripe.deliver(paying.fakeStripe.paid(session));
  const customer = await paying.gateway.key(org);
  expect((await paying.gateway.chat(customer, hello())).status).toBe(200);
  await paying.fakeStripe.deliver(paying.fakeStripe.disputed(paying.fakeStripe.account.pay(session)));
  const spent = Number((await paying.gateway.balance(customer)).spent) / 1e9;
  expect([await paying.available(org), await paying.debt(org)]).toEqual([0, spent]);
  const refused = await paying.gateway.chat<{ error: { code: string; message: string } }>(customer, hello());
  expect([refused.status, refused.json.error.code]).toEqual([402, "insufficient_credits"]);
  expect(refused.json.error.message).toContain("disputed payment");
  const second = await paying.order(org);
  await paying.fakeStripe.deliver(paying.fakeStripe.paid(second.session));
  expect(await paying.available(org)).toBeCloseTo(10 - spent, 9);
  expect((await paying.gateway.chat(customer, hello())).status).toBe(200);
});
