// A refund by an operator: the request by its id, at most what it cost, once per reference, with its reason in the
// audit log.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Browser, firstOperator, newMember } from "../support/browser.ts";
import { type Customer, hello, startGateway, STORES, type TestGateway } from "../support/gateway.ts";

describe.each(STORES)("on %s", (store) => {
  let gateway: TestGateway;
  let root: Browser;
  let customer: Customer;
  let request: string;
  let charge: bigint;

  beforeAll(async () => {
    gateway = await startGateway({ store });
    root = await firstOperator(gateway);
    customer = await gateway.customer({ usd: "1" });
    const answer = await gateway.chat<{ gateway: { request_id: string } }>(customer, hello());
    request = answer.json.gateway.request_id;
    charge = (await gateway.request(request)).charge;
    expect(charge).toBeGreaterThan(1n);
  });
  afterAll(async () => {
    await gateway.assertSound();
    await gateway.stop();
  });

  const printed = (nano: bigint): string => `0.${nano.toString().padStart(9, "0")}`;
  const nano = (usd: string): bigint => BigInt(usd.replace(".", ""));
  const refundable = () => root.app("GET /operator/requests/{request}", { request });
  const refund = (amount: bigint, reference: string) =>
    root.try(
      "POST /operator/refunds",
      {},
      { request, amount_usd: printed(amount), reference, reason: "wrong model answered" },
    );

  test("says first how much can be refunded", async () => {
    expect(await refundable()).toMatchObject({
      org: customer.organizationId,
      state: "settled",
      charge_usd: printed(charge),
      refunded_usd: "0.000000000",
      left_usd: printed(charge),
    });
    const params = { request: "req_00000000000000000000000000000000" };
    expect((await root.try("GET /operator/requests/{request}", params)).status).toBe(404);
  });

  test("refunds a part, once per reference, and no more than the request cost", async () => {
    const before: bigint = (await gateway.balance(customer)).available;
    const first = await refund(charge - 1n, "ticket-1");
    expect([first.status, first.json]).toMatchObject([201, { refunded: true }]);
    const { before_usd, after_usd } = first.json as unknown as { before_usd: string; after_usd: string };
    expect(nano(after_usd) - nano(before_usd)).toBe(charge - 1n);
    expect((await refund(charge - 1n, "ticket-1")).json).toMatchObject({ refunded: false });
    const tooMuch = await refund(2n, "ticket-2");
    expect([tooMuch.status, tooMuch.json.error.code]).toEqual([409, "conflict"]);
    const after: bigint = (await gateway.balance(customer)).available;
    expect(after - before).toBe(charge - 1n);
    expect(await refundable()).toMatchObject({ refunded_usd: printed(charge - 1n), left_usd: printed(1n) });
    const [move] = (await root.app("GET /operator/credits")).data;
    expect(move).toMatchObject({ kind: "refund", reference: "ticket-1", by: { name: "Root" } });
    const reasons = await root.app("GET /operator/audit", {}, undefined, "?action=credits.reason");
    expect(reasons.data.map(({ target, after }) => [target, after])).toEqual([
      ["ticket-1", JSON.stringify({ reason: "wrong model answered" })],
    ]);
  });

  test("is shown with the request itself, with its entry of the ledger, and named in the statement", async () => {
    const { organizationId: org } = customer;
    const refunded_usd = printed(charge - 1n);
    const record = await gateway.admin("GET", `/requests/${request}`);
    expect(record.json).toMatchObject({ charge_usd: printed(charge), refunded_usd });
    const viewer = await newMember(root, gateway, { org, role: "viewer", email: "viewer@example.com" });
    const shown = await viewer.app("GET /orgs/{org}/activity/{request}", { org, request });
    expect(shown.request).toMatchObject({ charge_usd: printed(charge), refunded_usd });
    const { data } = await viewer.app("GET /orgs/{org}/activity/{request}/entries", { org, request });
    expect(data.map(({ kind }) => kind)).toEqual(["hold", "charge", "rest", "refund"]);
    expect(data.at(-1)).toMatchObject({ amount_usd: refunded_usd, requests: 0 });
    const { movements } = await root.app("GET /orgs/{org}/billing/statement", { org });
    expect(movements.map(({ kind, request }) => [kind, request])).toEqual([
      ["purchase", null],
      ["refund", request],
    ]);
    const { text } = await root.try("GET /orgs/{org}/billing/statement.csv", { org });
    expect(text).toContain(`operator: ticket-1,,,${request}\r\n`);
    // The signature and the chain are checked against the charge alone, as before.
    const evidence = await gateway.admin<{ entries: { entry: { kind: string } }[] }>(
      "GET",
      `/requests/${request}/evidence`,
    );
    expect(evidence.json.entries.map(({ entry }) => entry.kind)).toEqual(["hold", "charge", "rest"]);
  });
});
