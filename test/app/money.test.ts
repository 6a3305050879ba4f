// Buying credits and alerts through the dashboard's API, by people of different roles, paid through the fake Stripe.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { FakeStripe } from "../../src/payments/fake-stripe/server.ts";
import { startReceiver } from "../alerts/receiver.ts";
import { type Paying, startPaying } from "../payments/paying.ts";
import { type Browser, firstOperator, newMember } from "../support/browser.ts";
import { edit } from "../support/versions.ts";

let paying: Paying;
let fakeStripe: FakeStripe;
let root: Browser;
let owner: Browser;
let org: string;
beforeAll(async () => {
  paying = await startPaying(undefined, {
    configure: (config) => {
      config.alerts.privateTargets = true;
    },
  });
  ({ fakeStripe } = paying);
  root = await firstOperator(paying.gateway);
  org = (await paying.gateway.customer({ usd: "0" })).organizationId;
  owner = await newMember(root, paying.gateway, { org, role: "owner", email: "owner@example.com" });
});
afterAll(async () => {
  await paying.gateway.assertSound();
  await paying.stop();
});

test("an owner buys credits: the page, the event, the order, the balance; a double click orders once", async () => {
  const headers = { "idempotency-key": "form-of-the-owner" };
  const click = () =>
    owner.try("POST /orgs/{org}/billing/orders", { org }, { amount_usd: "25", keep_card: true }, { headers });
  const [first, second] = await Promise.all([click(), click()]);
  expect([first.status, second.status]).toEqual([201, 201]);
  const made = first.json as unknown as { id: string; pay_url: string };
  expect((second.json as unknown as { id: string }).id).toBe(made.id);
  await fakeStripe.deliver(fakeStripe.paid(fakeStripe.session(made.pay_url)));
  const order = await owner.app("GET /orgs/{org}/billing/orders/{order}", { org, order: made.id });
  expect(order).toMatchObject({ state: "credited", amount_usd: "25.000000000", pay_url: null });
  expect(await paying.available(org)).toBe(25);
  const orders = await owner.app("GET /orgs/{org}/billing/orders", { org });
  expect(orders.data.map(({ id }) => id)).toEqual([made.id]);
});

test("the stored card is charged automatically, once automatic top-up is turned on", async () => {
  const wish = { on: true, threshold_usd: "30", amount_usd: "30", monthly_cap_usd: null };
  const set = await edit(owner, "PUT /orgs/{org}/billing/auto-top-up", { org }, wish);
  expect(set).toMatchObject({ on: true, card: "visa •••• 4242", last_failure: null });
  await paying.gateway.payments.runAutomatic(() => {});
  expect(await paying.available(org)).toBe(55);
  await edit(owner, "PUT /orgs/{org}/billing/auto-top-up", { org }, { ...wish, on: false });
});

test("a rule and a channel of the dashboard call a customer's endpoint", async () => {
  const receiver = startReceiver();
  const channel = await owner.app(
    "POST /orgs/{org}/alerts/channels",
    { org },
    { kind: "webhook", name: "Pager", target: receiver.url },
  );
  receiver.secret = channel.secret ?? "";
  const rule = await owner.app(
    "POST /orgs/{org}/alerts/rules",
    { org },
    { kind: "balance_below", amount_usd: "100", channels: [channel.id], on: true },
  );
  await paying.gateway.alerts.watch((error) => {
    throw error;
  });
  await paying.gateway.alerts.deliver();
  expect(receiver.arrived).toMatchObject([{ genuine: true, body: { type: "alert.balance_below" } }]);
  const rules = await owner.app("GET /orgs/{org}/alerts/rules", { org });
  expect(rules.data).toMatchObject([{ id: rule.id, firing: true }]);
  const { attention } = await owner.app("GET /orgs/{org}/overview", { org });
  expect(attention).toContainEqual(expect.objectContaining({ kind: "alert_holds", target: rule.id }));
  const deliveries = await owner.app("GET /orgs/{org}/alerts/deliveries", { org });
  expect(new Set(deliveries.data.map((delivery) => delivery.channel))).toEqual(
    new Set(["dashboard", channel.id]),
  );
  await owner.app("DELETE /orgs/{org}/alerts/rules/{rule}", { org, rule: rule.id });
  await owner.app("DELETE /orgs/{org}/alerts/channels/{channel}", { org, channel: channel.id });
  await receiver.stop();
});

test("roles: a billing member buys, a developer does not, a stranger finds nothing", async () => {
  const member = (role: "billing" | "developer", email: string) =>
    newMember(root, paying.gateway, { org, role, email });
  const [billing, developer] = [
    await member("billing", "billing@example.com"),
    await member("developer", "developer@example.com"),
  ];
  const other = (await paying.gateway.customer({ usd: "0" })).organizationId;
  const stranger = await newMember(root, paying.gateway, {
    org: other,
    role: "owner",
    email: "stranger@example.com",
  });
  const buy = async (browser: Browser): Promise<number> =>
    (await browser.try("POST /orgs/{org}/billing/orders", { org }, { amount_usd: "5" })).status;
  expect([await buy(billing), await buy(developer), await buy(stranger)]).toEqual([201, 403, 404]);
  const [made] = (await billing.app("GET /orgs/{org}/billing/orders", { org })).data;
  const theirs = await stranger.try("GET /orgs/{org}/billing/orders/{order}", {
    org: other,
    order: made?.id ?? "",
  });
  expect(theirs.status).toBe(404);
});

test("refusals use the one envelope, with the field's name", async () => {
  const refused = await owner.try("POST /orgs/{org}/billing/orders", { org }, { amount_usd: "1" });
  expect([refused.status, refused.json.error]).toMatchObject([
    400,
    { code: "invalid_request", param: "amount_usd", request_id: refused.headers.get("x-request-id") },
  ]);
  fakeStripe.away = true;
  const away = await owner.try("POST /orgs/{org}/billing/orders", { org }, { amount_usd: "5" });
  fakeStripe.away = false;
  expect([away.status, away.json.error.code]).toEqual([503, "payment_service_unavailable"]);
});

test("operators see every event with its outcome", async () => {
  const events = await root.app("GET /operator/payments", {}, undefined, `?org=${org}`);
  expect(events.data.map(({ outcome }) => outcome)).toContain("credited");
  const nobody = await owner.try("GET /operator/payments");
  expect([403, 404]).toContain(nobody.status);
});

test("a failed top-up is a warning of the overview until it is set up again", async () => {
  const warned = async (): Promise<boolean> =>
    (await owner.app("GET /orgs/{org}/overview", { org })).attention.some(
      ({ kind }) => kind === "top_up_failed",
    );
  await owner.app("DELETE /orgs/{org}/billing/card", { org });
  const again = await owner.try("DELETE /orgs/{org}/billing/card", { org });
  expect(again.json.error.message).toBe("This organization has no saved card.");
  const wish = { on: true, threshold_usd: "1000", amount_usd: "1000", monthly_cap_usd: null };
  await edit(owner, "PUT /orgs/{org}/billing/auto-top-up", { org }, wish);
  expect(await warned()).toBe(false);
  await paying.gateway.payments.runAutomatic(() => {});
  expect(await warned()).toBe(true);
  await edit(owner, "PUT /orgs/{org}/billing/auto-top-up", { org }, { ...wish, on: false });
  expect(await warned()).toBe(false);
});

test("operators download their three lists of money as CSV, of one organization or of all", async () => {
  const name = "=HYPERLINK(1)";
  const other = (await root.app("POST /operator/organizations", {}, { name })).id;
  for (const amount_usd of ["5", "0.000000001"])
    await root.app(
      "POST /operator/credits",
      {},
      { org: other, amount_usd, kind: "grant", reference: `@${amount_usd}`, reason: "agreed" },
    );
  const csv = async (list: string, query: string) => {
    const { status, headers, text } = await root.send("GET", `/app/v1/operator/${list}.csv${query}`);
    const [header, ...rows] = text.trimEnd().split("\r\n");
    return { status, file: headers.get("content-disposition"), header, rows };
  };
  const credits = await csv("credits", `?org=${other}`);
  expect(credits.file).toBe(`attachment; filename="credits-${other}.csv"`);
  expect(credits.header).toBe(
    "at,org,org_name,kind,amount_usd,source,reference,balance_after_usd,by,by_name",
  );
  const listed = await root.app("GET /operator/credits", {}, undefined, `?org=${other}`);
  expect(credits.rows).toEqual(
    listed.data.map(
      ({ at, amount_usd, source, reference, balance_after_usd, by }) =>
        `${at},${other},'${name},grant,${amount_usd},${source},'${reference},${balance_after_usd},${by?.id},Root`,
    ),
  );
  expect(credits.rows.map((row) => row.split(",")[4])).toEqual(["0.000000001", "5.000000000"]);

  const orders = await csv("orders", `?org=${org}`);
  const ordered = await root.app("GET /operator/orders", {}, undefined, `?org=${org}`);
  expect(ordered.data.length).toBeGreaterThan(1);
  expect(orders.header).toStartWith("id,org,org_name,purpose,driver,amount_usd,state,");
  expect(orders.rows.map((row) => row.split(",")[0])).toEqual(ordered.data.map(({ id }) => id));

  const payments = await csv("payments", "");
  const told = await root.app("GET /operator/payments");
  expect(payments.file).toBe('attachment; filename="payments-all.csv"');
  expect(payments.header).toStartWith("id,driver,type,org,org_name,order,outcome,");
  expect(payments.rows.map((row) => row.split(",")[0])).toEqual(told.data.map(({ id }) => id));
  expect((await csv("payments", `?org=${other}`)).rows).toEqual([]);
});
