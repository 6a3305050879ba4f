// The other two ways to pay: the test driver's own page, as a person uses it, and payments confirmed by hand.
import { byItself } from "../../src/domain/actor.ts";
import { expect, test } from "bun:test";
import { orderInput } from "../../src/api/shapes/billing.ts";
import { StripeDriver } from "../../src/payments/stripe.ts";
import { startGateway, type TestGateway } from "../support/gateway.ts";
import { askedOfProxy } from "../support/asked-of-proxy.ts";
import { auditLog } from "../support/audit-log.ts";

async function paidBy(
  driver: "test" | "manual",
  story: (gateway: TestGateway, org: string) => Promise<void>,
) {
  const gateway = await startGateway({
    models: [],
    configure: (config) => {
      config.payments.driver = driver;
    },
  });
  try {
    await story(gateway, (await gateway.customer({ usd: "0" })).organizationId);
    await gateway.assertSound();
  } finally {
    await gateway.stop();
  }
}

const by = { actor: byItself("person_1"), formKey: null };
const available = async ({ ledger }: TestGateway, org: string): Promise<number> =>
  Number((await ledger.balance(org))?.available ?? -1n) / 1e9;

test("without Stripe a person pays on the gateway's own page, and the credits are there on return", () =>
  paidBy("test", async (gateway, org) => {
    const { paymentService } = gateway.services;
    const made = await paymentService.buy(org, orderInput.parse({ amount_usd: "25" }), by);
    const page = await fetch(made.pay_url ?? "");
    expect(page.status).toBe(200);
    expect(await page.text()).toContain("no money moves");
    const press = (what: string) =>
      fetch(made.pay_url ?? "", {
        method: "POST",
        body: new URLSearchParams({ do: what }),
        redirect: "manual",
      });
    const left = await press("decline");
    expect([left.status, left.headers.get("location")]).toEqual([303, `${gateway.url}/o/${org}/billing`]);
    expect(await available(gateway, org)).toBe(0);
    const returned = await press("pay");
    expect([returned.status, returned.headers.get("location")]).toEqual([
      303,
      `${gateway.url}/o/${org}/billing?order=${made.id}`,
    ]);
    await press("pay");
    expect(await available(gateway, org)).toBe(25);
    expect(await paymentService.order(org, made.id)).toMatchObject({ state: "credited", driver: "test" });
    expect(await (await fetch(made.pay_url ?? "")).text()).toContain("used already");
  }));

test("paid by hand: the operator confirms an order once; no event can", () =>
  paidBy("manual", async (gateway, org) => {
    const { paymentService } = gateway.services;
    const made = await paymentService.buy(org, orderInput.parse({ amount_usd: "1000" }), by);
    expect(made).toMatchObject({ state: "open", pay_url: null, driver: "manual" });
    const forged = await fetch(`${gateway.url}/webhooks/stripe`, {
      method: "POST",
      headers: { "content-type": "application/json", "stripe-signature": "t=1,v1=00" },
      body: "{}",
    });
    expect(forged.status).toBe(400);
    const confirmed = await Promise.all(
      [1, 2, 3].map(() => paymentService.confirm(made.id, byItself("operator"))),
    );
    expect(confirmed.map(({ state }) => state)).toEqual(["credited", "credited", "credited"]);
    expect(await available(gateway, org)).toBe(1000);
    const log = await auditLog(gateway.ledger, { organizationId: org, limit: 20 });
    expect(log.filter(({ action }) => action === "order.confirm")).toHaveLength(1);
  }));

test("the webhook accepts only POST with JSON, and bodies of at most a megabyte", () =>
  paidBy("test", async (gateway) => {
    const url = `${gateway.url}/webhooks/stripe`;
    const send = async (init: RequestInit): Promise<number> => (await fetch(url, init)).status;
    const json = { "content-type": "application/json" };
    expect(await send({})).toBe(405);
    expect(await send({ method: "POST", body: "{}", headers: { "content-type": "text/plain" } })).toBe(415);
    expect(
      await send({
        method: "POST",
        body: "x".repeat(1024 * 1024 + 1),
        headers: { ...json, connection: "close" },
      }),
    ).toBe(413);
  }));

test("Stripe is reached through the network's proxy", async () => {
  const settings = { secretKey: "sk_test_1", webhookSecret: "whsec_1", apiUrl: null };
  const stripe = new StripeDriver({ name: "stripe", ...settings });
  const asked = await askedOfProxy(() => stripe.orderOf("pi_1").catch(() => {}));
  expect(asked[0]).toBe("CONNECT api.stripe.com:443 HTTP/1.1");
});
