// Orders, their confirmation, the reasons of credits and decisions about a request or a login: each is atomic with
// its line in the audit log, whatever fails in between.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Config } from "../../src/config/config.ts";
import { FakeStripe } from "../../src/payments/fake-stripe/server.ts";
import { auditLog } from "../support/audit-log.ts";
import { type Browser, firstOperator, newMember, tokenOf } from "../support/browser.ts";
import { askForCodes } from "../support/device.ts";
import { STORES, startGateway, type TestGateway } from "../support/gateway.ts";
import { RESEARCH } from "../support/models.ts";
import { unwritable } from "../support/unwritable-lines.ts";

interface Place {
  gateway: TestGateway;
  root: Browser;
  org: string;
}

/** A gateway whose first operator also owns an organization. */
async function placeOf(started: Promise<TestGateway>): Promise<Place> {
  const gateway = await started;
  const root = await firstOperator(gateway);
  const org = (await root.app("POST /operator/organizations", {}, { name: "Acme" })).id;
  const owner = { email: "root@example.com", role: "owner" } as const;
  const { link } = await root.app("POST /operator/organizations/{org}/invitations", { org }, owner);
  await root.app("POST /invitations/accept", {}, { token: tokenOf(link) });
  return { gateway, root, org };
}

const linesOf = async ({ gateway }: Place, action: string) =>
  (await auditLog(gateway.ledger, { limit: 1000 })).filter((line) => line.action === action);

describe.each(STORES)("on %s", (store) => {
  let at: Place;
  let root: Browser;
  let org: string;
  beforeAll(async () => {
    const configure = ({ payments }: Config): void => void (payments.driver = "manual");
    at = await placeOf(startGateway({ store, configure }));
    ({ root, org } = at);
  });
  afterAll(async () => {
    await at.gateway.assertSound();
    await at.gateway.stop();
  });

  const available = async (): Promise<bigint> => (await at.gateway.ledger.balance(org))?.available ?? -1n;
  const orders = async () => (await root.app("GET /orgs/{org}/billing/orders", { org })).data;
  const buy = (key: string) =>
    root.try(
      "POST /orgs/{org}/billing/orders",
      { org },
      { amount_usd: "20" },
      { headers: { "idempotency-key": key } },
    );

  test("an order that cannot be written down is not made; the same form makes it with its line", async () => {
    await unwritable(at.gateway, store, "order.create", async () => {
      expect((await buy("form-of-acme")).status).toBeGreaterThanOrEqual(500);
      expect(await orders()).toEqual([]);
    });
    expect((await buy("form-of-acme")).status).toBe(201);
    const [order] = await orders();
    expect((await linesOf(at, "order.create")).map(({ target }) => target)).toEqual([order?.id ?? ""]);
  });

  test("an order whose confirmation cannot be written down is not confirmed; the second try credits nothing twice", async () => {
    const order = (await orders())[0]?.id ?? "";
    const confirm = () => root.try("POST /operator/orders/{order}/confirm", { order });
    await unwritable(at.gateway, store, "order.confirm", async () => {
      expect((await confirm()).status).toBeGreaterThanOrEqual(500);
      expect((await orders())[0]?.state).toBe("open");
    });
    expect((await confirm()).status).toBe(200);
    expect((await confirm()).status).toBe(200);
    expect((await orders())[0]?.state).toBe("credited");
    expect(await available()).toBe(20_000_000_000n);
    expect(await linesOf(at, "order.confirm")).toMatchObject([{ target: order, organizationId: org }]);
  });

  test("credits whose reason cannot be written down are not given", async () => {
    const grant = { org, amount_usd: "5", kind: "grant", reference: "gift", reason: "a drill" } as const;
    const give = () => root.try("POST /operator/credits", {}, grant);
    const before = await available();
    await unwritable(at.gateway, store, "credits.reason", async () => {
      expect((await give()).status).toBeGreaterThanOrEqual(500);
      expect(await available()).toBe(before);
    });
    expect((await give()).status).toBe(201);
    expect((await give()).status).toBe(201);
    expect(await available()).toBe(before + 5_000_000_000n);
    expect(await linesOf(at, "credits.reason")).toMatchObject([
      { target: "gift", after: JSON.stringify({ reason: "a drill" }) },
    ]);
  });

  test("a request for Research Mode that cannot be written down as declined or withdrawn still waits", async () => {
    const rita = await newMember(root, at.gateway, { org, role: "developer", email: "rita@example.com" });
    const until = new Date(Date.now() + 40 * 86_400_000).toISOString().slice(0, 10);
    const wish = { model: RESEARCH.model, project: "Folding", purpose: "A paper", until };
    const state = async (id: string) =>
      (await root.app("GET /operator/entitlements")).data.find((row) => row.id === id)?.state;
    const acts = {
      "entitlement.decline": (entitlement: string) =>
        root.try("POST /operator/entitlements/{entitlement}/decline", { entitlement }, { reason: "no" }),
      "entitlement.withdraw": (entitlement: string) =>
        rita.try("POST /orgs/{org}/research/{entitlement}/withdraw", { org, entitlement }),
    };
    for (const [action, act] of Object.entries(acts)) {
      const { id } = await rita.app("POST /orgs/{org}/research", { org }, wish);
      await unwritable(at.gateway, store, action, async () => {
        expect((await act(id)).status).toBeGreaterThanOrEqual(500);
        expect(await state(id)).toBe("requested");
      });
      expect((await act(id)).status).toBe(200);
      expect((await linesOf(at, action)).map(({ target }) => target)).toEqual([id]);
    }
  });

  test("a login of the command line that cannot be written down as approved still waits", async () => {
    const { user_code } = await askForCodes(at.gateway.url);
    const { id: device } = await root.app("POST /operator/devices/find", {}, { user_code });
    const approve = () => root.try("POST /operator/devices/{device}/approve", { device });
    await unwritable(at.gateway, store, "device.approve", async () => {
      expect((await approve()).status).toBeGreaterThanOrEqual(500);
    });
    expect((await approve()).status).toBe(200);
    expect((await linesOf(at, "device.approve")).map(({ target }) => target)).toEqual([device]);
  });

  test("an order is written down though its payment service does not answer", async () => {
    const service = new FakeStripe({ webhookSecret: "whsec_1", webhookUrl: () => "" });
    const paid = await placeOf(
      startGateway({
        store,
        configure: ({ payments }) => {
          const stripe = { secretKey: "sk_test_1", webhookSecret: "whsec_1", apiUrl: service.url };
          Object.assign(payments, { driver: "stripe", stripe });
        },
      }),
    );
    const form = () =>
      paid.root.try(
        "POST /orgs/{org}/billing/orders",
        { org: paid.org },
        { amount_usd: "20" },
        { headers: { "idempotency-key": "form-of-acme" } },
      );
    service.away = true;
    expect((await form()).status).toBe(503);
    service.away = false;
    expect((await form()).status).toBe(201);
    const [order] = (await paid.root.app("GET /orgs/{org}/billing/orders", { org: paid.org })).data;
    expect(await linesOf(paid, "order.create")).toMatchObject([
      { target: order?.id, after: JSON.stringify({ amount_usd: "20.000000000" }) },
    ]);
    await paid.gateway.stop();
    await service.stop();
  });
});
