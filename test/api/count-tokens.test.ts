// POST /v1/messages/count_tokens: free, never too low, and not a free way to a provider for callers who cannot pay or
// ask endlessly.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { anthropic } from "../../src/providers/anthropic/kind.ts";
import { type Customer, startGateway, type TestGateway } from "../support/gateway.ts";
import { errorBody, readMessage } from "../support/message-schema.ts";
import { onProvider, PREVIEW_V1, RESEARCH } from "../support/models.ts";
import { waitFor } from "../support/wait.ts";

const claude = (model: string, provider: string) =>
  onProvider({ ...PREVIEW_V1, model, upstream_model: "claude-opus-4-8", requires_paid: false }, provider);

let gateway: TestGateway;
let customer: Customer;
let odd: ReturnType<typeof Bun.serve>;
/** How the odd provider answers a count. */
let counts: () => Response | Promise<Response> = () => Response.json({ input_tokens: 1 });
let oddCalls = 0;

beforeAll(async () => {
  odd = Bun.serve({
    port: 0,
    fetch: () => {
      oddCalls += 1;
      return counts();
    },
  });
  gateway = await startGateway({
    models: [
      { ...PREVIEW_V1, model: "gpt", requires_paid: false },
      claude("opus", "claude"),
      claude("odd", "odd"),
      { ...claude("narrow", "odd"), context_window: 1000, max_output_tokens: 100, default_output_tokens: 50 },
      RESEARCH,
    ],
    configure: (config) => {
      config.limits.keyRequestsPerMinute = 1000;
      const [usual] = config.providers;
      if (usual === undefined) throw new Error("no provider");
      const own = { envelope: "direct", api_key: "key", models: {} };
      const at = usual.baseUrl?.replace(/\/v1$/, "/anthropic/v1") ?? "";
      config.providers.push(
        { ...usual, name: "claude", kind: anthropic, baseUrl: at, own },
        { ...usual, name: "odd", kind: anthropic, baseUrl: `http://127.0.0.1:${odd.port}/v1`, own },
      );
    },
  });
  customer = await gateway.customer({ usd: "50" });
});
afterAll(async () => {
  await gateway.assertSound();
  await gateway.stop();
  await odd.stop(true);
});

const tools = [
  { name: "weather", input_schema: { type: "object", properties: { city: { type: "string" } } } },
];
const ASKED = {
  system: "Be brief.",
  tools,
  messages: [{ role: "user", content: "How many tokens is this?" }],
};

const post = (path: string, body: object, secret = customer.secret): Promise<Response> =>
  fetch(`${gateway.url}/v1/messages${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": secret },
    body: JSON.stringify(body),
  });

async function counted(body: object, secret?: string): Promise<number> {
  const response = await post("/count_tokens?beta=true", body, secret);
  const text = await response.text();
  if (response.status !== 200) throw new Error(text);
  expect(response.headers.get("request-id")).toBe(response.headers.get("x-request-id"));
  const { input_tokens: tokens, ...rest } = JSON.parse(text) as { input_tokens: number };
  expect(rest).toEqual({});
  return tokens;
}

const refused = async (body: object, secret?: string) => {
  const response = await post("/count_tokens", body, secret);
  const { error } = errorBody.parse(JSON.parse(await response.text()));
  return [response.status, error.type, error.code];
};

test("a provider's own count is used if there is one, and ours is never below what is billed", async () => {
  const calls = gateway.simulator.bill().length;
  const before = await gateway.balance(customer);
  const rows = (await gateway.rowsOf("ledger_entries").catch(() => [])).length;
  const theirs = await counted({ model: "opus", temperature: 0.5, ...ASKED });
  const ours = await counted({ model: "gpt", ...ASKED });
  expect(gateway.simulator.bill()).toHaveLength(calls);
  expect(await gateway.balance(customer)).toEqual(before);
  expect((await gateway.rowsOf("ledger_entries").catch(() => [])).length).toBe(rows);
  const answer = readMessage(await (await post("", { model: "opus", max_tokens: 50, ...ASKED })).text());
  expect(theirs).toBe(answer.usage.input_tokens);
  const other = readMessage(await (await post("", { model: "gpt", max_tokens: 50, ...ASKED })).text());
  expect(ours).toBeGreaterThanOrEqual(other.usage.input_tokens);
  expect(ours).toBeLessThan(300);
});

test("it is validated, authenticated and scoped like the call itself", async () => {
  const bad = "invalid_request_error";
  expect(await refused({ model: "opus" })).toEqual([400, bad, "invalid_request"]);
  expect(await refused({ ...ASKED, model: "opus", speed: "fast" })).toEqual([
    400,
    bad,
    "unsupported_parameter",
  ]);
  expect(await refused({ ...ASKED, model: "no-such" })).toEqual([404, "not_found_error", "model_not_found"]);
  expect(await refused({ ...ASKED, model: "gpt" }, "gw_sk_wrong")).toEqual([
    401,
    "authentication_error",
    "invalid_api_key",
  ]);
  expect((await refused({ ...ASKED, model: RESEARCH.model })).slice(0, 2)).toEqual([403, "permission_error"]);
});

test("a count does not use up its key's requests per minute", async () => {
  const { secret, keyId } = await gateway.customer({ usd: "5" });
  await gateway.admin("POST", "/limits", { key: keyId, requests_per_minute: 6 }); // a slot is free again after ten seconds
  const left = async (): Promise<number> => {
    const answer = await post("", { model: "gpt", max_tokens: 5, ...ASKED }, secret);
    expect(answer.status).toBe(200);
    return Number(answer.headers.get("x-ratelimit-remaining-requests"));
  };
  const before = await left();
  await counted({ model: "gpt", ...ASKED }, secret);
  await refused({ model: "gpt" }, secret);
  expect(await left()).toBe(before - 1);
});

test("if a count fails or says nothing, or is above the bound, the bound is returned", async () => {
  const body = { model: "odd", ...ASKED };
  const told: number[] = [];
  for (const reply of [
    () => Response.json({ error: {} }, { status: 500 }),
    () => Response.json({ input_tokens: "many" }),
    () => Response.json({ input_tokens: 10 ** 9 }),
    () => new Response("x".repeat(200_000)),
  ]) {
    counts = reply;
    told.push(await counted(body));
  }
  expect(new Set(told).size).toBe(1);
  expect(told[0]).toBeGreaterThan(JSON.stringify(ASKED).length / 2);
  counts = () => Response.json({ input_tokens: 7 });
  expect(await counted(body)).toBe(7);
});

test("a caller without credits, or whose key may spend no more, gets the bound, and no provider is asked", async () => {
  const before = oddCalls;
  for (const whose of [{ usd: "0" }, { usd: "5", limitUsd: "0" }]) {
    const { secret } = await gateway.customer(whose);
    expect(await counted({ model: "odd", ...ASKED }, secret)).toBeGreaterThan(100);
  }
  expect(oddCalls).toBe(before);
});

test("a conversation that has outgrown its model is counted, so that its agent can shorten it", async () => {
  const content = "word ".repeat(2000);
  const long = { model: "narrow", messages: [{ role: "user", content }] };
  const called = errorBody.parse(await (await post("", { ...long, max_tokens: 5 })).json());
  expect(called.error.code).toBe("context_length_exceeded");
  expect(await counted(long)).toBeGreaterThan(content.length);
});

test("a flood makes nobody wait: a few at once, and a provider is asked only so often in a minute", async () => {
  const flooding = await gateway.customer({ usd: "5" });
  let release = (): void => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  counts = () => held.then(() => Response.json({ input_tokens: 7 }));
  const begun = oddCalls;
  let answered = 0;
  const many = Array.from({ length: 12 }, () =>
    post("/count_tokens", { model: "odd", ...ASKED }, flooding.secret).finally(() => (answered += 1)),
  );
  const first = await Promise.race(many);
  expect(first.status).toBe(429);
  await waitFor(async () => oddCalls === begun + 4, "those that are asked for");
  counts = () => Response.json({ input_tokens: 7 });
  expect(await counted({ model: "odd", ...ASKED })).toBe(7); // of other callers: at once
  await waitFor(async () => answered === 8, "those for whom there is no room");
  release();
  const statuses = (await Promise.all(many)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(4);
  expect(new Set(statuses)).toEqual(new Set([200, 429]));
  const before = oddCalls;
  const told = [];
  for (let n = 0; n < 70; n += 1) told.push(await counted({ model: "odd", ...ASKED }, flooding.secret));
  expect(oddCalls - before).toBe(56);
  expect(told[0]).toBe(7);
  expect(told.at(-1)).toBeGreaterThan(100);
});
