// Every code of the table of refusals is triggered over HTTP and documented: code ⇔ docs/errors.md ⇔ test
// (specification 7). The record below is complete by type: a new code without a way to trigger it does not compile.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { OPERATOR_REFUSALS } from "../../src/domain/operator-refusals.ts";
import { REFUSAL_WORDS } from "../../src/domain/refusal-words.ts";
import { type RefusalCode, REFUSALS } from "../../src/domain/refusals.ts";
import { testClock } from "../support/clock.ts";
import type { ErrorJson } from "../support/events.ts";
import { type Customer, hello, type Reply, startGateway, type TestGateway } from "../support/gateway.ts";
import { PLAIN } from "../support/models.ts";
import { waitFor } from "../support/wait.ts";

type ErrorReply = Pick<Reply<ErrorJson>, "status" | "json" | "headers">;

const IN_HASTE = { firstTokenMs: 100, totalMs: 500 };

const clock = testClock();
let gateway: TestGateway;
let full: TestGateway;
let customer: Customer;
beforeAll(async () => {
  gateway = await startGateway({
    clock,
    configure: (config) => {
      config.limits.bodyBytes = 510_000;
      config.idempotency.attachWaitMs = 50;
      for (const provider of config.providers) provider.health = { ...provider.health, openAfterFailures: 2 };
      // A separate one: a busy machine is late, and on a stopped clock a route that two late answers closed would
      // stay closed.
      const [hasty] = config.providers;
      if (hasty === undefined) throw new Error("no provider");
      config.providers.push({ ...hasty, name: "hasty", timeouts: { ...hasty.timeouts, ...IN_HASTE } });
    },
    models: [
      ...(await import("../support/models.ts")).MODELS,
      { ...PLAIN, model: "nowhere-1", provider: "not-configured" },
      { ...PLAIN, model: "fragile-1", upstream_model: "sim-fragile-1" },
      { ...PLAIN, model: "closed-1" },
      { ...PLAIN, model: "hasty-1", provider: "hasty" },
    ],
  });
  full = await startGateway({
    configure: (config) => {
      config.limits.maxConcurrent = 0;
      config.limits.keyRequestsPerMinute = 1;
    },
  });
  customer = await gateway.customer({ usd: "50" });
});
afterAll(() => Promise.all([gateway.stop(), full.stop()]));

const chat = (fields: object = {}, who = customer): Promise<ErrorReply> =>
  gateway.chat<ErrorJson>(who, { ...hello(), ...fields });
const preview = (fields: object): Promise<ErrorReply> => chat({ model: "base-preview-v1", ...fields });
const get = async (path: string, init: RequestInit = {}): Promise<ErrorReply> => {
  const reply = await fetch(`${gateway.url}${path}`, init);
  return { status: reply.status, headers: reply.headers, json: (await reply.json()) as ErrorJson };
};
const withHeaders = (headers: Record<string, string>): Promise<ErrorReply> =>
  gateway.chat<ErrorJson>(customer, hello(), headers);
const faulty = (behaviour: Parameters<TestGateway["simulator"]["behave"]>[0]["behaviour"], calls = 1): void =>
  gateway.simulator.behave({ behaviour, calls });

/** A keyed request that succeeded, whose stored result was then changed. */
async function afterKeyed(...changes: string[]): Promise<ErrorReply> {
  const headers = { "idempotency-key": crypto.randomUUID() };
  const first = await gateway.chat(customer, hello(), headers);
  for (const change of changes) await gateway.tamper(change, first.headers.get("x-request-id") ?? "");
  return gateway.chat<ErrorJson>(customer, hello(), headers);
}

const PROVOKE: Record<RefusalCode, () => Promise<ErrorReply>> = {
  invalid_api_key: () => get("/v1/models"),
  api_key_revoked: async () => {
    const fired = await gateway.key(customer.organizationId);
    await gateway.admin("POST", `/keys/${fired.keyId}/revoke`);
    return chat({}, fired);
  },
  api_key_paused: async () => {
    const resting = await gateway.key(customer.organizationId);
    await gateway.admin("POST", `/keys/${resting.keyId}/pause`);
    return chat({}, resting);
  },
  api_key_expired: async () => {
    const passing = await gateway.key(customer.organizationId);
    const expires_at = new Date(clock.nowMs() + 3_600_000).toISOString();
    await gateway.admin("POST", `/keys/${passing.keyId}/update`, { expires_at });
    clock.advance(3_600_000);
    return chat({}, passing);
  },
  unknown_url: () => get("/v1/nothing"),
  method_not_allowed: () => get("/v1/chat/completions"),
  unsupported_media_type: () => withHeaders({ "content-type": "text/plain" }),
  payload_too_large: () => gateway.chat<ErrorJson>(customer, "x".repeat(600_000)),
  invalid_json: () => gateway.chat<ErrorJson>(customer, "{"),
  too_many_values: () => gateway.chat<ErrorJson>(customer, `[${",".repeat(500_000)}`),
  invalid_request: () => chat({ messages: null }),
  integer_above_max_value: () => preview({ logprobs: true, top_logprobs: 21 }),
  integer_below_min_value: () => chat({ max_tokens: 0 }),
  decimal_above_max_value: () => chat({ temperature: 3 }),
  decimal_below_min_value: () => chat({ temperature: -1 }),
  string_above_max_length: () => chat({ model: "m".repeat(300) }),
  array_above_max_length: () => chat({ stop: ["a", "b", "c", "d", "e"] }),
  unknown_parameter: () => chat({ made_up: 1 }),
  unsupported_parameter: () => chat({ audio: {} }),
  unsupported_value: () => preview({ reasoning_effort: "extreme" }),
  raw_token_ids_not_allowed: () => chat({ input_ids: [1] }),
  runtime_adapter_not_allowed: () => chat({ lora: "x" }),
  contradictory_thinking: () => preview({ reasoning_effort: "high", enable_thinking: false }),
  invalid_idempotency_key: () => withHeaders({ "idempotency-key": "short" }),
  context_length_exceeded: () => chat({ max_tokens: 131_072 }),
  content_filter: () => {
    faulty({ status: 400, error_code: "content_filter" });
    return chat();
  },
  model_not_found: () => chat({ model: "nope" }),
  generation_not_found: () =>
    get("/v1/generation?id=req_0", { headers: { authorization: `Bearer ${customer.secret}` } }),
  response_not_found: () =>
    get("/v1/responses/resp_0", { headers: { authorization: `Bearer ${customer.secret}` } }),
  insufficient_credits: async () => chat({}, await gateway.customer({ usd: "0" })),
  key_spend_limit_reached: async () => chat({}, await gateway.customer({ limitUsd: "0" })),
  scope_not_permitted: () => chat({ model: "base-research-1" }),
  model_not_allowed: async () => {
    const bound = await gateway.key(customer.organizationId);
    await gateway.admin("POST", `/keys/${bound.keyId}/update`, { allowed_models: ["other-1"] });
    return chat({}, bound);
  },
  research_entitlement_required: async () =>
    chat({ model: "base-research-1" }, await gateway.customer({ scope: "research" })),
  paid_workspace_required: async () =>
    chat({ model: "base-preview-v1" }, await gateway.customer({ kind: "grant" })),
  organization_stopped: async () => {
    const other = await gateway.customer();
    const { organizationId } = other;
    await gateway.tamper(
      "UPDATE org_balance SET available = available + 1 WHERE org_id = ?1",
      organizationId,
    );
    await gateway.admin("GET", "/ledger/audit");
    const reply = await chat({}, other);
    await gateway.tamper(
      "UPDATE org_balance SET available = available - 1 WHERE org_id = ?1",
      organizationId,
    );
    await gateway.admin("GET", "/ledger/audit");
    return reply;
  },
  idempotency_in_progress: async () => {
    const headers = { "idempotency-key": crypto.randomUUID() };
    faulty({ tokens_per_second: 100, completion_tokens: 30 });
    const first = gateway.chat(customer, hello(), headers);
    const second = await gateway.chat<ErrorJson>(customer, hello(), headers);
    await first;
    return second;
  },
  idempotency_outcome_unknown: () =>
    afterKeyed(
      "DELETE FROM result WHERE request_id = ?1",
      "UPDATE request SET state = 'released', error_code = 'owner_lost', answer_until = NULL, charge = 0 WHERE request_id = ?1",
    ),
  idempotency_key_expired: async () => {
    const headers = { "idempotency-key": crypto.randomUUID() };
    const other = await gateway.customer();
    await gateway.chat(other, hello(), headers);
    clock.advance(86_400_000 + 1);
    return gateway.chat<ErrorJson>(other, hello(), headers);
  },
  idempotency_result_not_retained: () => afterKeyed("DELETE FROM result WHERE request_id = ?1"),
  idempotency_key_reused: async () => {
    const headers = { "idempotency-key": crypto.randomUUID() };
    await gateway.chat(customer, hello(), headers);
    return gateway.chat<ErrorJson>(customer, { ...hello(), seed: 1 }, headers);
  },
  rate_limit_exceeded: async () => {
    const busy = await startGateway({
      configure: (config) => {
        config.limits.keyRequestsPerMinute = 1;
      },
    });
    const one = await busy.customer();
    await busy.chat(one, hello());
    const reply = await busy.chat<ErrorJson>(one, hello());
    await busy.stop();
    return reply;
  },
  internal_error: async () => {
    const id = (await gateway.chat(customer, hello())).headers.get("x-request-id") ?? "";
    await gateway.tamper("UPDATE request SET attempts = '[{' WHERE request_id = ?1", id);
    return get(`/v1/generation?id=${id}`, { headers: { authorization: `Bearer ${customer.secret}` } });
  },
  provider_error: () => {
    faulty({ status: 400 });
    return chat();
  },
  provider_timeout: () => {
    faulty({ hang: true });
    return chat({ model: "hasty-1" });
  },
  route_disabled: async () => {
    await gateway.admin("POST", "/routes/disable", { route: "closed-1@simulator/local", reason: "test" });
    return chat({ model: "closed-1" });
  },
  route_release_stale: async () => {
    const published = { ...PLAIN, model: "brief-1" };
    await gateway.publish(published, { nowMs: clock.nowMs(), expiresInMs: 3_600_000 });
    clock.advance(3_600_001);
    return chat({ model: "brief-1" });
  },
  route_unhealthy: async () => {
    gateway.simulator.behave({ behaviour: { status: 500 }, model: "sim-fragile-1", calls: 2 });
    await chat({ model: "fragile-1" });
    await chat({ model: "fragile-1" });
    return chat({ model: "fragile-1" });
  },
  receipt_not_ready: async () => {
    faulty({ until_well: true });
    const running = chat({});
    await waitFor(async () => gateway.simulator.bill().at(-1)?.outcome === "running", "the call");
    const id = gateway.simulator.bill().at(-1)?.request_id;
    const refused = await get(`/v1/receipts/${id}`, {
      headers: { authorization: `Bearer ${customer.secret}` },
    });
    gateway.simulator.behaveWell();
    await running;
    return refused;
  },
  route_unavailable: () => chat({ model: "nowhere-1" }),
  overloaded: async () => full.chat<ErrorJson>(await full.customer(), hello()),
};

const codes = Object.keys(REFUSALS) as RefusalCode[];

test.each(codes)("%s is answered with its status, its type and a request id", async (code) => {
  const { status, json, headers } = await PROVOKE[code]();
  expect({ code: json.error.code, status }).toEqual({ code, status: REFUSALS[code].status });
  expect(json.error.type).toBe(REFUSALS[code].type);
  expect(json.error.message.length).toBeGreaterThan(10);
  expect(headers.get("x-request-id")).toBe(json.error.request_id);
  expect(["true", "false"]).toContain(headers.get("x-should-retry") ?? "");
  // An id and a port may have any digits.
  const words = json.error.message.replaceAll(/req_\w+/g, "its id").replaceAll(gateway.url, "its address");
  if (status !== 429) expect(words).not.toMatch(/429|rate limit/i);
});

const text = readFileSync(join(import.meta.dir, "../../docs/errors.md"), "utf8");

test("docs/errors.md has exactly the codes of operators, people and payments, with their status", () => {
  const table = /^\| `(\w+)` \| (\d{3}) \| (?!(?:yes|no|see header) \|)[^|]+ \| [^|]+ \|$/gm;
  const rows = [...text.matchAll(table)].map(([, code = "", status]) => [code, Number(status)] as const);
  expect(Object.fromEntries(rows)).toEqual(OPERATOR_REFUSALS);
});

test("docs/errors.md has exactly the codes of the table, with their status and whether to retry", () => {
  const table = /^\| `(\w+)` \| (\d{3}) \| (yes|no|see header) \| (.+) \| (.+) \|$/gm;
  const rows = [...text.matchAll(table)].map(([, code, status, retry, happened, next]) => {
    expect({ happened, next }).toEqual({ ...REFUSAL_WORDS[code as RefusalCode] });
    return { code, status: Number(status), retry };
  });
  expect(rows.map(({ code }) => code)).toEqual(codes);
  for (const { code, status, retry } of rows) {
    const row = REFUSALS[code as RefusalCode];
    expect({ code, status }).toEqual({ code, status: row.status });
    if (retry !== "see header") expect({ code, retry }).toEqual({ code, retry: row.retry ? "yes" : "no" });
  }
});
