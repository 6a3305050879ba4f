// Specification 1, 2.1, 5 and 7: a rejection happens before anything is held and before any provider is called, in
// the same way for a stream and for a whole answer; the request id is the same in the header, the error and the
// gateway object; the idempotency key of a refusal is free.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { publishExpired } from "../support/expired-release.ts";
import type { ErrorJson } from "../support/events.ts";
import { type Customer, hello, STORES, startGateway, type TestGateway } from "../support/gateway.ts";
import { MODELS, PLAIN, PREVIEW_V1, RESEARCH } from "../support/models.ts";

const DISABLED = { ...PLAIN, model: "disabled-1" };
const STALE = { ...PLAIN, model: "stale-1" };
const UNHEALTHY = { ...PLAIN, model: "unhealthy-1", upstream_model: "sim-unhealthy-1" };

interface Case {
  says: string;
  body?: object;
  /** Default: the usual customer. */
  who?: () => Promise<Customer>;
  is: [status: number, code: string];
  param?: string | null;
}

describe.each(STORES)("on %s", (store) => {
  let gateway: TestGateway;
  let customer: Customer;
  beforeAll(async () => {
    gateway = await startGateway({
      store,
      models: [...MODELS, DISABLED, UNHEALTHY],
      configure: (config) => {
        for (const provider of config.providers)
          provider.health = { ...provider.health, openAfterFailures: 1, halfOpenAfterMs: 600_000 };
      },
    });
    customer = await gateway.customer();
    await gateway.admin("POST", "/routes/disable", { route: "disabled-1@simulator/local", reason: "test" });
    await publishExpired(gateway, STALE);
    gateway.simulator.behave({ behaviour: { status: 500 }, model: "sim-unhealthy-1", calls: 1 });
    await gateway.chat(customer, hello(UNHEALTHY.model));
  });
  afterAll(async () => {
    await gateway.assertSound();
    await gateway.stop();
  });

  const preview = { model: PREVIEW_V1.model };
  const CASES: Case[] = [
    { says: "no model", body: { model: undefined }, is: [400, "invalid_request"], param: "model" },
    { says: "no messages", body: { messages: undefined }, is: [400, "invalid_request"], param: "messages" },
    {
      says: "an empty conversation",
      body: { messages: [] },
      is: [400, "invalid_request"],
      param: "messages",
    },
    {
      says: "a role that is none",
      body: { messages: [{ role: "function", name: "f", content: "x" }] },
      is: [400, "unsupported_value"],
      param: "messages[0].role",
    },
    {
      says: "null content of a user",
      body: { messages: [{ role: "user", content: null }] },
      is: [400, "invalid_request"],
      param: "messages[0].content",
    },
    {
      says: "null content of an assistant without a call",
      body: {
        messages: [
          { role: "user", content: "x" },
          { role: "assistant", content: null },
        ],
      },
      is: [400, "invalid_request"],
      param: "messages[1].content",
    },
    {
      says: "a float for max_tokens",
      body: { max_tokens: 1.5 },
      is: [400, "invalid_request"],
      param: "max_tokens",
    },
    { says: "a text for stream", body: { stream: "true" }, is: [400, "invalid_request"], param: "stream" },
    {
      says: "an effort that is not published",
      body: { ...preview, reasoning_effort: "extreme" },
      is: [400, "unsupported_value"],
      param: "reasoning_effort",
    },
    {
      says: "an effort of a model without any",
      body: { reasoning_effort: "high" },
      is: [400, "unsupported_value"],
      param: "reasoning_effort",
    },
    {
      says: "contradictory thinking",
      body: { ...preview, reasoning_effort: "high", thinking: { type: "disabled" } },
      is: [400, "contradictory_thinking"],
      param: "thinking.type",
    },
    { says: "raw token ids", body: { prompt_token_ids: [1] }, is: [400, "raw_token_ids_not_allowed"] },
    {
      says: "token ids as content",
      body: { messages: [{ role: "user", content: [1, 2, 3] }] },
      is: [400, "raw_token_ids_not_allowed"],
      param: "messages[0].content",
    },
    {
      says: "a runtime adapter",
      body: { lora: "x" },
      is: [400, "runtime_adapter_not_allowed"],
      param: "lora",
    },
    { says: "more than the window", body: { max_tokens: 131_072 }, is: [400, "context_length_exceeded"] },
    { says: "a model that is none", body: { model: "none" }, is: [404, "model_not_found"], param: "model" },
    { says: "a model outside the scope", body: { model: RESEARCH.model }, is: [403, "scope_not_permitted"] },
    {
      says: "a research call without an entitlement",
      body: { model: RESEARCH.model },
      who: () => gateway.customer({ scope: "research" }),
      is: [403, "research_entitlement_required"],
    },
    {
      says: "a research key on a standard model",
      who: () => gateway.customer({ scope: "research" }),
      is: [403, "scope_not_permitted"],
    },
    {
      says: "an unpaid workspace on a preview",
      body: preview,
      who: () => gateway.customer({ kind: "grant" }),
      is: [403, "paid_workspace_required"],
    },
    {
      says: "a key at its limit",
      who: () => gateway.customer({ limitUsd: "0" }),
      is: [403, "key_spend_limit_reached"],
    },
    {
      says: "no credits",
      who: () => gateway.customer({ usd: "0.000000001" }),
      is: [402, "insufficient_credits"],
    },
    { says: "a disabled route", body: { model: DISABLED.model }, is: [503, "route_disabled"] },
    { says: "a stale release", body: { model: STALE.model }, is: [503, "route_release_stale"] },
    { says: "an unhealthy route", body: { model: UNHEALTHY.model }, is: [503, "route_unhealthy"] },
  ];

  const state = async (who: Customer): Promise<unknown> => [
    await gateway.balance(who),
    (await gateway.rowsOf("request")).length,
    (await gateway.rowsOf("ledger_entry")).length,
    gateway.simulator.bill().length,
  ];
  const bodyOf = (fields: object = {}): string => JSON.stringify({ ...hello(), ...fields });

  for (const stream of [false, true])
    describe(stream ? "asked for as a stream" : "asked for whole", () => {
      test.each(CASES)("$says: $is", async ({ body, who, is: [status, code], param }) => {
        const caller = who === undefined ? customer : await who();
        const before = await state(caller);
        const key = crypto.randomUUID();
        const keyed = { "idempotency-key": key };
        const ids = new Set<string>();
        for (const headers of [{}, keyed, keyed] as Record<string, string>[]) {
          const sent = bodyOf({ ...(stream && { stream }), ...body });
          const reply = await gateway.chat<ErrorJson>(caller, sent, headers);
          expect([reply.status, reply.json.error.code]).toEqual([status, code]);
          expect(reply.headers.get("content-type")).toStartWith("application/json");
          const { error, gateway: about } = reply.json;
          const id = reply.headers.get("x-request-id");
          expect([error.request_id, about?.request_id]).toEqual([id as string, id as string]);
          ids.add(error.request_id);
          expect(Object.keys(error).filter((name) => name !== "details")).toEqual([
            "message",
            "type",
            "param",
            "code",
            "request_id",
          ]);
          if (param !== undefined) expect(error.param).toBe(param);
          expect(about).not.toHaveProperty("cost");
          const supplied = "idempotency-key" in headers;
          expect(about?.idempotency?.caller_supplied).toBe(supplied);
          const generated = reply.headers.get("x-gw-idempotency-key");
          expect(about?.idempotency?.key).toBe(supplied ? key : (generated as string));
          if (supplied) expect(generated).toBeNull();
        }
        expect(ids.size).toBe(3);
        expect(await state(caller)).toEqual(before);
        if (who !== undefined) return;
        const served = await gateway.chat(caller, hello(), { "idempotency-key": key });
        expect([served.status, served.headers.get("idempotent-replayed")]).toEqual([200, null]);
      });
    });

  test("a revoked key outranks everything, and learns nothing of what it asked for", async () => {
    const fired = await gateway.key(customer.organizationId);
    await gateway.admin("POST", `/keys/${fired.keyId}/revoke`);
    const HEADERS: Record<string, string>[] = [
      {},
      { "idempotency-key": "short" },
      { "content-type": "text/plain" },
    ];
    const before = await state(customer);
    for (const body of ["", "{", bodyOf(), bodyOf({ model: DISABLED.model, stream: true })])
      for (const headers of HEADERS) {
        const reply = await gateway.chat<ErrorJson>(fired, body, headers);
        const isMedia = "content-type" in headers; // nothing is read of what no route accepts, whoever sends it
        expect([reply.status, reply.json.error.code]).toEqual(
          isMedia ? [415, "unsupported_media_type"] : [401, "api_key_revoked"],
        );
        expect(reply.json.gateway).toBeUndefined();
        expect(reply.headers.get("x-request-id")).toBe(reply.json.error.request_id);
      }
    expect(await state(customer)).toEqual(before);
  });
});
