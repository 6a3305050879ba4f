// Specification 2.3, 3, 5.4 to 5.7, of keys: the same on every surface, whole or streamed; nothing restores a revoked
// key; a limit that is lowered, reached, raised or removed applies to the very next request, whatever credits the
// organization has.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { ErrorJson } from "../support/events.ts";
import { type Customer, hello, STORES, startGateway, type TestGateway } from "../support/gateway.ts";
import { MODELS, VECTORS } from "../support/models.ts";

const MODEL = "plain-1";
const SURFACES: [path: string, body: object][] = [
  ["/v1/chat/completions", hello(MODEL)],
  ["/v1/chat/completions", { ...hello(MODEL), stream: true }],
  ["/v1/responses", { model: MODEL, input: "Say hello" }],
  ["/v1/responses", { model: MODEL, input: "Say hello", stream: true }],
  ["/v1/messages", { model: MODEL, max_tokens: 50, messages: [{ role: "user", content: "Say hello" }] }],
  [
    "/v1/messages",
    { model: MODEL, max_tokens: 50, stream: true, messages: [{ role: "user", content: "Say hello" }] },
  ],
  ["/v1/completions", { model: MODEL, prompt: "Say hello" }],
  ["/v1/embeddings", { model: VECTORS.model, input: "Say hello" }],
];
const FREE = ["/v1/models", "/v1/key", "/v1/credits"];

describe.each(STORES)("on %s", (store) => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway({ store, models: [...MODELS, VECTORS] });
  });
  afterAll(async () => {
    await gateway.assertSound();
    await gateway.stop();
  });

  async function post(
    customer: Customer,
    path: string,
    body: object,
  ): Promise<{ status: number; code: string | null }> {
    const reply = await fetch(`${gateway.url}${path}`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${customer.secret}`,
        "content-type": "application/json",
        "anthropic-version": "2023-06-01",
      },
      body: JSON.stringify(body),
    });
    const text = await reply.text();
    expect(reply.headers.get("x-request-id")).toMatch(/^req_[0-9a-f]{32}$/);
    const code = text.startsWith("{") ? ((JSON.parse(text) as Partial<ErrorJson>).error?.code ?? null) : null;
    return { status: reply.status, code };
  }
  const everywhere = async (customer: Customer): Promise<unknown[]> => {
    const told = new Set<string>();
    for (const [path, body] of SURFACES) told.add(JSON.stringify(await post(customer, path, body)));
    return [...told].map((one) => JSON.parse(one) as unknown);
  };
  const SERVED = { status: 200, code: null };
  const ways = async (customer: Customer): Promise<unknown> => [
    await gateway.balance(customer),
    gateway.simulator.bill().length,
    (await gateway.rowsOf("request")).length,
  ];

  test("a key at its limit is refused on every surface, while its free endpoints work; each remedy opens all at once", async () => {
    const customer = await gateway.customer({ usd: "100" });
    expect(await everywhere(customer)).toEqual([SERVED]);
    const limit = (usd: string | null) => gateway.admin("POST", `/keys/${customer.keyId}/limit`, { usd });
    await limit("0.0001"); // lowered to less than is spent
    const before = await ways(customer);
    expect(await everywhere(customer)).toEqual([{ status: 403, code: "key_spend_limit_reached" }]);
    expect(await ways(customer)).toEqual(before);
    for (const path of FREE) expect((await gateway.get(customer, path)).status).toBe(200);
    const sister = await gateway.key(customer.organizationId);
    expect((await post(sister, ...SURFACES[0]!)).status).toBe(200);
    await limit("1");
    expect(await everywhere(customer)).toEqual([SERVED]);
    await limit("0.0001");
    expect((await post(customer, ...SURFACES[0]!)).code).toBe("key_spend_limit_reached");
    await limit(null);
    expect(await everywhere(customer)).toEqual([SERVED]);
  });

  test("if limit and credits are both used up, the key is named first; with an open limit, the credits", async () => {
    const poor = await gateway.customer({ usd: "0.000000001", limitUsd: "0" });
    expect((await post(poor, ...SURFACES[0]!)).code).toBe("key_spend_limit_reached");
    await gateway.admin("POST", `/keys/${poor.keyId}/limit`, { usd: "5" });
    expect(await everywhere(poor)).toEqual([{ status: 402, code: "insufficient_credits" }]);
  });

  test("a revoked key is refused everywhere, free endpoints too, and no door restores it", async () => {
    const customer = await gateway.customer({ usd: "1" });
    expect((await post(customer, ...SURFACES[0]!)).status).toBe(200);
    await gateway.admin("POST", `/keys/${customer.keyId}/revoke`);
    const REVOKED = { status: 401, code: "api_key_revoked" };
    expect(await everywhere(customer)).toEqual([REVOKED]);
    for (const path of FREE)
      expect((await gateway.get<ErrorJson>(customer, path)).json.error.code).toBe("api_key_revoked");
    for (const [act, body] of [
      ["resume", {}],
      ["pause", {}],
      ["update", { expires_at: null }],
      ["update", { name: "again", limit_usd: null }],
      ["limit", { usd: null }],
      ["rename", { name: "again" }],
      ["replace", { overlap_hours: 24 }],
      ["revoke", {}],
    ] as const) {
      const { status, text } = await gateway.admin("POST", `/keys/${customer.keyId}/${act}`, body);
      expect([act, status < 500]).toEqual([act, true]);
      if (act === "replace") expect(text).not.toContain(customer.secret);
      expect([act, await post(customer, ...SURFACES[0]!)]).toEqual([act, REVOKED]);
    }
    const { json } = await gateway.admin<{ data: { id: string; status: string; month_spend_usd: string }[] }>(
      "GET",
      `/keys?org=${customer.organizationId}`,
    );
    const listed = json.data.find(({ id }) => id === customer.keyId);
    expect(listed).toMatchObject({ status: "revoked", month_spend_usd: "0.000100000" }); // past usage stays
  });

  test("a key of another organization spends only its own credits, and learns nothing of others", async () => {
    const [one, other] = [await gateway.customer({ usd: "1" }), await gateway.customer({ usd: "1" })];
    const before = await gateway.balance(other);
    const reply = await gateway.chat<{ gateway: { request_id: string } }>(one, hello(MODEL));
    const id = reply.json.gateway.request_id;
    expect(await gateway.balance(other)).toEqual(before);
    for (const path of [`/v1/generation?id=${id}`, `/v1/receipts/${id}`]) {
      const [real, madeUp] = [
        await gateway.get<ErrorJson>(other, path),
        await gateway.get<ErrorJson>(other, path.replace(id, "req_00000000000000000000000000000000")),
      ];
      expect([real.status, real.json.error.code]).toEqual([404, "generation_not_found"]);
      expect({ ...real.json.error, request_id: "" }).toEqual({ ...madeUp.json.error, request_id: "" });
    }
  });
});
