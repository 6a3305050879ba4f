// The free endpoints: models, key, credits, generation (wire.md §5). They work while the key's limit blocks it.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { FIELD_SAMPLES } from "../../src/domain/request-fields.fixtures.ts";
import { entitled } from "../support/entitled.ts";
import type { ErrorJson, GatewayJson } from "../support/events.ts";
import { type Customer, hello, startGateway, type TestGateway } from "../support/gateway.ts";
import { PLAIN } from "../support/models.ts";

let gateway: TestGateway;
let customer: Customer;
beforeAll(async () => {
  gateway = await startGateway();
  customer = await gateway.customer({ limitUsd: "1" });
});
afterAll(async () => {
  await gateway.assertSound();
  await gateway.stop();
});

interface ModelJson {
  id: string;
  capabilities: Record<string, boolean | number>;
  supported_parameters: string[];
  object: string;
  state: string;
  pricing: Record<string, string>;
  routes: { route: string; state: string; reason: string | null }[];
}
const models = async (who: Customer): Promise<ModelJson[]> =>
  (await gateway.get<{ object: string; data: ModelJson[] }>(who, "/v1/models")).json.data;

test("a standard key sees the standard models with prices, window, modes and routes", async () => {
  const list = await models(customer);
  expect(list.map(({ id }) => id).toSorted((a, b) => a.localeCompare(b))).toEqual([
    "base-preview-v1",
    "base-preview-v2",
    "plain-1",
    "uncounted-1",
  ]);
  expect(list.find(({ id }) => id === "base-preview-v1")).toMatchObject({
    object: "model",
    owned_by: "simulator",
    context_length: 131_072,
    max_output_tokens: 8192,
    default_output_tokens: 1024,
    pricing: {
      currency: "USD",
      input_per_million: "2",
      output_per_million: "2",
      request_minimum: "0.0001",
      prompt: "0.000002",
      completion: "0.000002",
      input_cache_read: "0.0000002",
    },
    reasoning: { modes: ["none", "low", "medium", "high"], default: "medium" },
    tier: "standard",
    requires_paid: true,
    state: "live",
    routes: [
      {
        route: "base-preview-v1@simulator/local",
        provider: "simulator",
        region: "local",
        state: "live",
        reason: null,
        release_version: 1,
      },
    ],
  });
});

test("a model shows what it offers and which fields it uses, in a stable order", async () => {
  const list = await models(customer);
  const all = list.find(({ id }) => id === "base-preview-v1");
  expect(
    Object.entries(all?.capabilities ?? {})
      .map(([name, most]) => `${name}: ${most}`)
      .join(),
  ).toMatch(
    /^tools: true,images: true,json_schema: true,logprobs: true,logit_bias: false,(\w+: false,)*max_n: 4$/,
  );
  const FIRST =
    `max_tokens max_completion_tokens temperature top_p stop seed frequency_penalty presence_penalty n stream
    stream_options tools tool_choice parallel_tool_calls response_format reasoning_effort verbosity logprobs
    top_logprobs user`.split(/\s+/);
  expect(all?.supported_parameters.slice(0, FIRST.length)).toEqual(FIRST);
  for (const [name, { unlisted, needs }] of FIELD_SAMPLES) {
    const offered = Object.entries(needs?.offered ?? {}).every(
      ([one, most]) => all?.capabilities[one] === most,
    );
    const listed = all?.supported_parameters.includes(name);
    expect([name, listed]).toEqual([name, unlisted !== true && offered]);
  }

  const plain = list.find(({ id }) => id === PLAIN.model);
  expect(plain?.supported_parameters.slice(0, 12).join(" ")).toBe(
    "max_tokens max_completion_tokens temperature top_p stop seed frequency_penalty presence_penalty stream " +
      "stream_options verbosity user",
  );
});

test("a research key sees the models that its organization's entitlements name", async () => {
  const researcher = await gateway.customer({ scope: "research" });
  expect(await models(researcher)).toEqual([]);
  const untilMs = Date.now() + 86_400_000;
  await entitled(gateway, { org: researcher.organizationId, model: "base-research-1", untilMs });
  expect((await models(researcher)).map(({ id }) => id)).toEqual(["base-research-1"]);
});

test("a closed model is listed with its state and reason", async () => {
  const route = "base-preview-v2@simulator/local";
  await gateway.admin("POST", "/routes/disable", { route, reason: "maintenance" });
  const closed = (await models(customer)).find(({ id }) => id === "base-preview-v2");
  expect(closed).toMatchObject({ state: "disabled", routes: [{ state: "disabled", reason: "maintenance" }] });
  await gateway.admin("POST", "/routes/enable", { route });
});

test("one model by its id; 404 for unknown ones and those of another scope", async () => {
  expect((await gateway.get<ModelJson>(customer, "/v1/models/plain-1")).json.id).toBe("plain-1");
  for (const path of [
    "/v1/models/nope",
    "/v1/models/base-research-1",
    "/v1/models/%zz",
    "/v1/models/plain-1%2Fx",
  ]) {
    const reply = await gateway.get<ErrorJson>(customer, path);
    expect([path, reply.status]).toEqual([path, 404]);
  }
});

test("HEAD is answered wherever GET is", async () => {
  const reply = await fetch(`${gateway.baseUrl}/models`, {
    method: "HEAD",
    headers: { authorization: `Bearer ${customer.secret}` },
  });
  expect([reply.status, await reply.text()]).toEqual([200, ""]);
});

test("key and credits return the figures of the ledger, and are never cached", async () => {
  await gateway.chat(customer, hello());
  const key = await gateway.get(customer, "/v1/key");
  expect(key.json).toMatchObject({
    object: "key",
    id: customer.keyId,
    scope: "standard",
    organization: customer.organizationId,
    limit_usd: "1.000000000",
    month_spend_usd: "0.000100000",
    held_usd: "0.000000000",
    remaining_usd: "0.999900000",
    month: new Date().toISOString().slice(0, 7),
  });
  const credits = await gateway.get(customer, "/v1/credits");
  expect(credits.json).toEqual({
    object: "credits",
    organization: customer.organizationId,
    available_usd: "4.999900000",
    held_usd: "0.000000000",
    spent_usd: "0.000100000",
    purchased_usd: "5.000000000",
    currency: "USD",
    paid_workspace: true,
  });
  for (const reply of [key, credits]) expect(reply.headers.get("cache-control")).toBe("no-store");
});

test("a generation is found by request id or completion id, with the same receipt as its answer", async () => {
  const { json } = await gateway.chat<{ id: string; gateway: GatewayJson }>(customer, hello());
  for (const id of [json.id, json.gateway.request_id]) {
    const reply = await gateway.get<{ gateway: GatewayJson }>(customer, `/v1/generation?id=${id}`);
    expect(reply.json).toMatchObject({
      object: "generation",
      state: "settled",
      finish_reason: "stop",
      attempts: [{ route: "plain-1@simulator/local", outcome: "answered", status: 200 }],
    });
    expect(reply.json.gateway).toEqual(json.gateway);
  }
});

test("nobody finds the generation of another key or organization", async () => {
  const { json } = await gateway.chat<{ id: string }>(customer, hello());
  for (const stranger of [await gateway.customer(), await gateway.key(customer.organizationId)]) {
    const reply = await gateway.get<ErrorJson>(stranger, `/v1/generation?id=${json.id}`);
    expect([reply.status, reply.json.error.code]).toEqual([404, "generation_not_found"]);
  }
});

test("they all work for a key blocked by its limit, and refuse a revoked one", async () => {
  const blocked = await gateway.customer({ limitUsd: "0" });
  expect((await gateway.chat(blocked, hello())).status).toBe(403);
  for (const path of ["/v1/models", "/v1/key", "/v1/credits"])
    expect((await gateway.get(blocked, path)).status).toBe(200);
  await gateway.admin("POST", `/keys/${blocked.keyId}/revoke`);
  for (const path of ["/v1/models", "/v1/key", "/v1/credits"])
    expect((await gateway.get(blocked, path)).status).toBe(401);
});

test("a quote returns every refusal that no admission could change, and names the binding limit of the others", async () => {
  const quote = (who: Customer, body: object): Promise<Response> =>
    fetch(`${gateway.baseUrl}/chat/completions/quote`, {
      method: "POST",
      headers: { authorization: `Bearer ${who.secret}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  expect((await quote(customer, { ...hello(), made_up: 1 })).status).toBe(400);
  expect((await quote(customer, hello("nope"))).status).toBe(404);
  const binding = async (who: Customer, body: object): Promise<unknown> =>
    ((await (await quote(who, body)).json()) as { binding_limit: string }).binding_limit;
  expect(await binding(await gateway.customer({ usd: "0" }), hello())).toBe("credits");
  expect(await binding(await gateway.customer({ limitUsd: "0" }), hello())).toBe("key_limit");
  expect(await binding(customer, { ...hello(), max_tokens: 131_072 })).toBe("context");
  expect(await binding(customer, hello("base-research-1"))).toBe("scope");
  expect(await binding(await gateway.customer({ scope: "research" }), hello("base-research-1"))).toBe(
    "entitlement",
  );
  expect(await binding(await gateway.customer({ kind: "grant" }), hello("base-preview-v1"))).toBe(
    "paid_workspace",
  );
});
