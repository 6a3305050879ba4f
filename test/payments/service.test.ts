// The use-cases behind the billing and alerts pages, over a real gateway on each store: shapes of the dashboard's
// API, refusals with the field's name, tenancy, and one line of the audit log per change.
import { byItself } from "../../src/domain/actor.ts";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { autoTopUp, order, orderInput } from "../../src/api/shapes/billing.ts";
import {
  alertChannelInput,
  alertDelivery,
  alertRule,
  alertRuleInput,
  createdAlertChannel,
} from "../../src/api/shapes/alerts.ts";
import type { AlertService } from "../../src/operator/alerts.ts";
import type { PaymentService } from "../../src/operator/payments.ts";
import { testPostgres } from "../support/postgres.ts";
import { type Paying, startPaying } from "./paying.ts";
import { auditLog } from "../support/audit-log.ts";

describe.each(["SQLite", "PostgreSQL"])("on %s", (store) => {
  let paying: Paying;
  let payments: PaymentService;
  let alerts: AlertService;
  let org: string;
  let other: string;
  beforeAll(async () => {
    const databaseUrl = store === "SQLite" ? null : (await (await testPostgres()).migrated()).url;
    paying = await startPaying(undefined, {
      configure: (config) => {
        config.databaseUrl = databaseUrl;
      },
    });
    ({ paymentService: payments, alertService: alerts } = paying.gateway.services);
  }, 120_000);
  afterAll(async () => {
    await paying.gateway.assertSound();
    await paying.stop();
  });
  beforeEach(async () => {
    org = (await paying.gateway.customer({ usd: "0" })).organizationId;
    other = (await paying.gateway.customer({ usd: "0" })).organizationId;
  });

  const by = { actor: byItself("person_1"), formKey: null };
  const buy = (usd: string, formKey: string | null = null) =>
    payments.buy(org, orderInput.parse({ amount_usd: usd, keep_card: true }), { ...by, formKey });
  const audited = async (): Promise<string[]> =>
    (await auditLog(paying.gateway.ledger, { organizationId: org, limit: 50 })).map(({ action }) => action);
  const codeOf = async (call: Promise<unknown>): Promise<unknown> => {
    const error = await call.then(
      () => null,
      (thrown: unknown) => thrown,
    );
    return error instanceof Error && "code" in error && "param" in error ? [error.code, error.param] : error;
  };

  describe("buying", () => {
    test("50 unpaid payments may be started a day; a form that was sent before gets the same answer", async () => {
      const first = await buy("10", "form 0");
      for (let n = 1; n < 50; n += 1) await buy("10", `form ${n}`);
      expect(await codeOf(buy("10", "form 50"))).toEqual(["conflict", null]);
      expect((await buy("10", "form 0")).id).toBe(first.id);
      expect((await payments.orders(org, { limit: 100 })).data).toHaveLength(50);
      expect(
        (await payments.buy(other, orderInput.parse({ amount_usd: "10", keep_card: false }), by)).state,
      ).toBe("open");
    });

    test("an order has a page to pay on, and is credited by its event only", async () => {
      const made = order.parse(await buy("25.00"));
      expect(made).toMatchObject({ state: "open", amount_usd: "25.000000000", driver: "stripe", org });
      const session = paying.fakeStripe.session(made.pay_url ?? "");
      expect(session.success_url).toBe(`${paying.gateway.url}/o/${org}/billing?order=${made.id}`);
      expect((await payments.order(org, made.id)).state).toBe("open");
      await paying.fakeStripe.deliver(paying.fakeStripe.paid(session));
      expect(await payments.order(org, made.id)).toMatchObject({ state: "credited", pay_url: null });
      expect(await audited()).toContain("order.create");
      expect(await audited()).toContain("credits.purchase");
    });

    test("a form sent twice is one order and one line of the log", async () => {
      const [one, two] = [await buy("25", "form"), await buy("25", "form")];
      expect(two).toEqual(one);
      expect(await codeOf(buy("26", "form"))).toEqual(["conflict", null]);
      expect((await audited()).filter((action) => action === "order.create")).toHaveLength(1);
    });

    test("refusals name the field, and an unreachable service is reported", async () => {
      expect(await codeOf(buy("1"))).toEqual(["invalid_request", "amount_usd"]);
      expect(await codeOf(buy("5.001"))).toEqual(["invalid_request", "amount_usd"]);
      paying.fakeStripe.away = true;
      expect(await codeOf(buy("25"))).toEqual(["payment_service_unavailable", null]);
      paying.fakeStripe.away = false;
    });

    test("orders of another organization do not exist; lists come in pages", async () => {
      const made = await buy("5");
      await buy("6");
      await buy("7");
      expect(await codeOf(payments.order(other, made.id))).toEqual(["not_found", "order"]);
      expect((await payments.orders(other, {})).data).toEqual([]);
      const first = await payments.orders(org, { limit: 2 });
      const second = await payments.orders(org, { limit: 2, cursor: first.next_cursor ?? "" });
      expect(
        [...first.data, ...second.data].map(({ amount_usd }) => amount_usd.slice(0, 1)).toSorted(),
      ).toEqual(["5", "6", "7"]);
      expect(second.next_cursor).toBeNull();
      expect(await codeOf(payments.orders(org, { cursor: "nonsense" }))).toEqual([
        "invalid_request",
        "cursor",
      ]);
    });
  });

  describe("automatic top-up", () => {
    const wish = async (change: object = {}) => ({
      version: (await payments.autoTopUp(org)).version,
      on: true,
      threshold_usd: "20",
      amount_usd: "25",
      monthly_cap_usd: "100",
      ...change,
    });

    test("starts empty, is set, fails without a card, is retried once there is one", async () => {
      expect(autoTopUp.parse(await payments.autoTopUp(org))).toEqual({
        on: false,
        threshold_usd: null,
        amount_usd: null,
        monthly_cap_usd: null,
        acts_below_usd: null,
        spent_this_month_usd: "0.000000000",
        card: null,
        last_failure: null,
        version: expect.any(String),
      });
      await payments.setAutoTopUp(org, await wish(), byItself("person_1"));
      expect(await codeOf(payments.retryAutoTopUp(org, byItself("person_1")))).toEqual(["conflict", null]);
      expect((await payments.autoTopUp(org)).last_failure?.reason).toContain("no saved card");
      const made = await buy("5");
      await paying.fakeStripe.deliver(paying.fakeStripe.paid(paying.fakeStripe.session(made.pay_url ?? "")));
      expect(await payments.retryAutoTopUp(org, byItself("person_1"))).toMatchObject({
        state: "credited",
        purpose: "auto_top_up",
      });
      expect(autoTopUp.parse(await payments.autoTopUp(org))).toMatchObject({
        on: true,
        card: "visa •••• 4242",
        spent_this_month_usd: "25.000000000",
        last_failure: null,
      });
      await payments.removeCard(org, byItself("person_1"));
      expect((await payments.autoTopUp(org)).card).toBeNull();
      expect(await codeOf(payments.removeCard(org, byItself("person_1")))).toEqual(["not_found", null]);
      expect(await audited()).toEqual(
        expect.arrayContaining(["auto_top_up.set", "auto_top_up.retry", "card.remove"]),
      );
    });

    test("no cap is allowed; a cap below one top-up and an impossible amount are not", async () => {
      const set = async (change: object) =>
        payments.setAutoTopUp(org, await wish(change), byItself("person_1"));
      expect((await set({ monthly_cap_usd: null })).monthly_cap_usd).toBeNull();
      expect(await codeOf(set({ monthly_cap_usd: "24" }))).toEqual(["invalid_request", "monthly_cap_usd"]);
      expect(await codeOf(set({ amount_usd: "1" }))).toEqual(["invalid_request", "amount_usd"]);
      // One charge that leaves less than the threshold would be followed by the next.
      expect(await codeOf(set({ threshold_usd: "25.01" }))).toEqual(["invalid_request", "amount_usd"]);
      expect(await set({ threshold_usd: "25.01", on: false })).toMatchObject({
        on: false,
        threshold_usd: "25.010000000",
        acts_below_usd: "25.000000000",
      });
      expect((await set({ threshold_usd: "25" })).acts_below_usd).toBe("25.000000000");
      const nobodys = { ...(await wish()), version: (await payments.autoTopUp("org_nobody")).version };
      expect(await codeOf(payments.setAutoTopUp("org_nobody", nobodys, byItself("p")))).toEqual([
        "not_found",
        "org",
      ]);
    });
  });

  test("operators see events that credited nothing, and confirm only what is paid by hand", async () => {
    const made = await buy("25");
    const session = paying.fakeStripe.session(made.pay_url ?? "");
    const wrong = { ...session, payment_status: "paid", amount_total: 1 };
    await paying.fakeStripe.deliver(paying.fakeStripe.event("checkout.session.completed", wrong));
    expect((await payments.events({ org })).data).toMatchObject([
      { outcome: "refused", order: made.id, org },
    ]);
    expect(await codeOf(payments.confirm(made.id, byItself("operator")))).toEqual(["conflict", null]);
    expect(await codeOf(payments.confirm("ord_nobody", byItself("operator")))).toEqual([
      "not_found",
      "order",
    ]);
  });

  describe("alerts", () => {
    const rule = (change: object = {}) =>
      alertRuleInput.parse({ kind: "balance_below", amount_usd: "5", channels: [], on: true, ...change });
    const channel = (target: string | null, kind = "webhook") =>
      alerts.addChannel(org, alertChannelInput.parse({ kind, name: "Pager", target }), byItself("person_1"));

    test("a rule is made, changed, removed; another organization sees none of it", async () => {
      const made = alertRule.parse(await alerts.addRule(org, rule(), byItself("person_1")));
      expect(await codeOf(alerts.removeRule(other, made.id, byItself("p")))).toEqual(["not_found", "rule"]);
      const { version } = made;
      const input = { ...rule({ kind: "key_limit", amount_usd: null, percent: 90 }), version };
      expect(await codeOf(alerts.changeRule(other, made.id, { input, actor: byItself("p") }))).toEqual([
        "not_found",
        "rule",
      ]);
      expect(await alerts.changeRule(org, made.id, { input, actor: byItself("p") })).toMatchObject({
        kind: "key_limit",
        percent: 90,
        amount_usd: null,
      });
      await alerts.removeRule(org, made.id, byItself("person_1"));
      expect((await alerts.rules(org)).data).toEqual([]);
      expect(await audited()).toEqual(
        expect.arrayContaining(["alert_rule.create", "alert_rule.change", "alert_rule.remove"]),
      );
    });

    test.each([
      ["no amount", { amount_usd: null }, "amount_usd"],
      ["an amount where a share belongs", { kind: "key_limit" }, "amount_usd"],
      ["no days", { kind: "days_left_below", amount_usd: null }, "days"],
      ["days that mean nothing", { kind: "route_not_live", amount_usd: null, days: 2 }, "days"],
      ["a key that means nothing", { key: "key_1" }, "key"],
      ["a channel of nobody", { channels: ["chn_nobody"] }, "channels"],
    ])("a rule with %s is refused with the field", async (_, change, param) => {
      const [, named] = (await codeOf(alerts.addRule(org, rule(change), byItself("p")))) as [string, string];
      expect(named).toBe(param);
    });

    test("targets inside the network are refused; the secret is shown once and stored sealed", async () => {
      expect(await codeOf(channel("http://127.0.0.1:1/"))).toEqual(["invalid_request", "target"]);
      expect(await codeOf(channel("https://169.254.169.254/"))).toEqual(["invalid_request", "target"]);
      expect(await codeOf(channel(null))).toEqual(["invalid_request", "target"]);
      expect(await codeOf(channel(null, "mail"))).toEqual(["conflict", "kind"]);
      expect(await codeOf(channel(null, "dashboard"))).toEqual(["conflict", "kind"]);
      const made = createdAlertChannel.parse(await channel("https://hooks.example.com/x"));
      expect(made.secret).toStartWith("whsec_");
      expect(JSON.stringify(await alerts.channels(org))).not.toContain("whsec_");
      expect((await alerts.channels(org)).data.map(({ kind }) => kind)).toEqual(["dashboard", "webhook"]);
      const log = await auditLog(paying.gateway.ledger, { organizationId: org, limit: 50 });
      expect(JSON.stringify(log)).not.toContain("whsec_");
      const secret = Buffer.from((made.secret ?? "").slice("whsec_".length));
      for (const file of readdirSync(paying.gateway.dataDir).filter((name) =>
        name.startsWith("tollgate.sqlite"),
      ))
        expect(readFileSync(join(paying.gateway.dataDir, file)).includes(secret)).toBe(false);
      expect((await alerts.channels(other)).data).toHaveLength(1);
      expect(await codeOf(alerts.sendTest(other, made.id, byItself("p")))).toEqual(["not_found", "channel"]);
      await alerts.removeChannel(org, made.id, byItself("person_1"));
      expect(await codeOf(alerts.sendTest(org, made.id, byItself("p")))).toEqual(["not_found", "channel"]);
    });

    test("the number of tests is limited: they call addresses that somebody typed", async () => {
      for (let count = 0; count < 10; count++) await alerts.sendTest(org, "dashboard", byItself("p"));
      expect(await codeOf(alerts.sendTest(org, "dashboard", byItself("p")))).toEqual([
        "rate_limit_exceeded",
        null,
      ]);
      await alerts.sendTest(other, "dashboard", byItself("p"));
    });

    test("a test delivery is on the list", async () => {
      const sent = alertDelivery.parse(await alerts.sendTest(org, "dashboard", byItself("person_1")));
      expect(sent).toMatchObject({ kind: "test", state: "delivered", rule: null });
      expect((await alerts.deliveries(org, {})).data).toEqual([sent]);
      expect((await alerts.deliveries(other, {})).data).toEqual([]);
    });
  });
});
