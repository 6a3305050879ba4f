import { expect, test } from "bun:test";
import fc from "fast-check";
import { CHAT_FIELDS } from "./chat-fields.ts";
import { bodyWith, call, parsed, refusalOf, tool, user, verdict } from "./chat-request.fixtures.ts";
import { parseChatRequest } from "./parse-chat-request.ts";
import { parseJson } from "../../../domain/parse-json.ts";
import { isJsonObject } from "../../../domain/read-value.ts";
import { REFUSED_FIELDS } from "./refused-fields.ts";
import { Refusal } from "../../../domain/refusals.ts";

const long = "x".repeat(10_000);

/** hardening.md §2.4 and §2.5, as far as a body alone decides; the field's path is the second word. */
const REFUSED: [fields: Record<string, unknown>, verdict: string][] = [
  [{ model: undefined }, "invalid_request model"],
  [{ model: null }, "invalid_request model"],
  [{ model: 7 }, "invalid_request model"],
  [{ model: "" }, "invalid_request model"],
  [{ model: long }, "string_above_max_length model"],
  [{ messages: undefined }, "invalid_request messages"],
  [{ messages: null }, "invalid_request messages"],
  [{ messages: {} }, "invalid_request messages"],
  [{ messages: [] }, "invalid_request messages"],
  [{ max_tokens: 0 }, "integer_below_min_value max_tokens"],
  [{ max_tokens: -0 }, "integer_below_min_value max_tokens"],
  [{ max_tokens: -1 }, "integer_below_min_value max_tokens"],
  [{ max_completion_tokens: 0 }, "integer_below_min_value max_completion_tokens"],
  [{ max_tokens: 1.5 }, "invalid_request max_tokens"],
  [{ max_tokens: "10" }, "invalid_request max_tokens"],
  [{ max_tokens: true }, "invalid_request max_tokens"],
  [{ max_tokens: 5, max_completion_tokens: 6 }, "invalid_request max_tokens"],
  [{ max_completion_tokens: 6, max_tokens: 5 }, "invalid_request max_tokens"],
  [{ n: 0 }, "unsupported_value n"],
  [{ n: -3 }, "unsupported_value n"],
  [{ n: "2" }, "invalid_request n"],
  [{ n: 1.5 }, "invalid_request n"],
  [{ temperature: -1 }, "decimal_below_min_value temperature"],
  [{ temperature: 3 }, "decimal_above_max_value temperature"],
  [{ temperature: "1" }, "invalid_request temperature"],
  [{ top_p: 1.1 }, "decimal_above_max_value top_p"],
  [{ top_p: -0.1 }, "decimal_below_min_value top_p"],
  [{ frequency_penalty: 2.1 }, "decimal_above_max_value frequency_penalty"],
  [{ presence_penalty: -2.1 }, "decimal_below_min_value presence_penalty"],
  [{ presence_penalty: [] }, "invalid_request presence_penalty"],
  [{ seed: 1.5 }, "invalid_request seed"],
  [{ verbosity: "loud" }, "unsupported_value verbosity"],
  [{ verbosity: 1 }, "invalid_request verbosity"],
  [{ parallel_tool_calls: "yes" }, "invalid_request parallel_tool_calls"],
  [{ stop: ["a", "b", "c", "d", "e"] }, "array_above_max_length stop"],
  [{ stop: {} }, "invalid_request stop"],
  [{ stop: "" }, "invalid_request stop[0]"],
  [{ stop: ["a", null] }, "invalid_request stop[1]"],
  [{ stop: [50256] }, "raw_token_ids_not_allowed stop"],
  [{ prompt: [1, 2, 3] }, "raw_token_ids_not_allowed prompt"],
  [{ prompt: "Hello" }, "unknown_parameter prompt"],
  [{ logprobs: 5 }, "invalid_request logprobs"],
  [{ top_logprobs: 5 }, "invalid_request top_logprobs"],
  [{ top_logprobs: 5, logprobs: false }, "invalid_request top_logprobs"],
  [{ logprobs: true, top_logprobs: 21 }, "integer_above_max_value top_logprobs"],
  [{ logprobs: true, top_logprobs: -1 }, "integer_below_min_value top_logprobs"],
  [{ logit_bias: [1] }, "invalid_request logit_bias"],
  [{ logit_bias: { hello: 1 } }, "invalid_request logit_bias"],
  [{ logit_bias: { "50256": -101 } }, "invalid_request logit_bias.50256"],
  [{ stream: "true" }, "invalid_request stream"],
  [{ stream: 1 }, "invalid_request stream"],
  [{ stream_options: { include_usage: true } }, "invalid_request stream_options"],
  [{ stream: false, stream_options: {} }, "invalid_request stream_options"],
  [{ stream: true, stream_options: [] }, "invalid_request stream_options"],
  [{ stream: true, stream_options: { include_usage: 1 } }, "invalid_request stream_options.include_usage"],
  [{ user: 7 }, "invalid_request user"],
  [{ safety_identifier: {} }, "invalid_request safety_identifier"],
  [{ prompt_cache_key: [] }, "invalid_request prompt_cache_key"],
  [{ metadata: "x" }, "invalid_request metadata"],
  [{ metadata: { a: 1 } }, "invalid_request metadata.a"],
  [{ metadata: { a: "x".repeat(513) } }, "string_above_max_length metadata.a"],
  [{ metadata: { ["k".repeat(65)]: "" } }, `string_above_max_length metadata.${"k".repeat(64)}`],
  [
    { metadata: Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`k${i}`, ""])) },
    "invalid_request metadata",
  ],
  [{ service_tier: "flex" }, "unsupported_value service_tier"],
  [{ service_tier: 1 }, "invalid_request service_tier"],
  [{ store: true }, "unsupported_value store"],
  [{ modalities: ["text", "audio"] }, "unsupported_value modalities"],
  [{ modalities: "text" }, "invalid_request modalities"],
  [{ response_format: "json" }, "invalid_request response_format"],
  [{ response_format: {} }, "invalid_request response_format.type"],
  [{ response_format: { type: "grammar" } }, "unsupported_value response_format.type"],
  [{ response_format: { type: "json_schema" } }, "invalid_request response_format.json_schema"],
  [
    { response_format: { type: "json_schema", json_schema: { schema: {} } } },
    "invalid_request response_format.json_schema.name",
  ],
  [
    { response_format: { type: "json_schema", json_schema: { name: "n".repeat(65) } } },
    "string_above_max_length response_format.json_schema.name",
  ],
  [
    { response_format: { type: "json_schema", json_schema: { name: "a", schema: [] } } },
    "invalid_request response_format.json_schema.schema",
  ],
  [
    { response_format: { type: "json_schema", json_schema: { name: "a", strict: "yes" } } },
    "invalid_request response_format.json_schema.strict",
  ],
  [{ constructor: 1 }, "unknown_parameter constructor"],
  [{ toString: null }, "unknown_parameter toString"],
  [{ "made up": 1 }, "unknown_parameter made up"],
  [{ [long]: 1 }, `unknown_parameter ${"x".repeat(64)}`],
];

for (const [fields, expected] of REFUSED) {
  const shown = JSON.stringify(fields, (_, value: unknown) => (value === undefined ? "(missing)" : value));
  test(`${shown.slice(0, 90)} is refused: ${expected.slice(0, 60)}`, () => {
    expect(verdict(bodyWith(fields))).toBe(expected);
  });
}

test("every field that is refused by name keeps its code, and null counts as absent for it", () => {
  expect(REFUSED_FIELDS.size).toBe(60);
  for (const [name, { code }] of REFUSED_FIELDS) {
    expect(verdict(bodyWith({ [name]: {} }))).toBe(`${code} ${name}`);
    expect(verdict(bodyWith({ [name]: false }))).toBe(`${code} ${name}`);
    expect(verdict(bodyWith({ [name]: null }))).toBe("accepted");
  }
});

test("all 37 fields of OpenAI's schema are known, accepted or refused by name", () => {
  const fields =
    `model messages max_tokens max_completion_tokens reasoning_effort tools tool_choice response_format n
    temperature top_p frequency_penalty presence_penalty seed verbosity parallel_tool_calls stop logprobs top_logprobs
    logit_bias stream stream_options user safety_identifier prompt_cache_key metadata service_tier store modalities
    prompt_cache_retention prompt_cache_options audio prediction web_search_options moderation functions
    function_call`.split(/\s+/);
  expect(fields).toHaveLength(37);
  for (const name of fields)
    expect([name, CHAT_FIELDS.has(name) !== REFUSED_FIELDS.has(name)]).toEqual([name, true]);
});

test("the refused fields of the hardening list have the codes it asks for", () => {
  const code = (name: string): string | undefined => REFUSED_FIELDS.get(name)?.code;
  for (const name of ["input_ids", "stop_token_ids", "prompt_token_ids", "bad_words"])
    expect(code(name)).toBe("raw_token_ids_not_allowed");
  for (const name of ["lora", "adapter", "extra_body", "chat_template_kwargs", "bootstrap_port", "echo"])
    expect(code(name)).toBe("runtime_adapter_not_allowed");
  for (const name of ["base_url", "api_key", "provider", "route", "gateway", "cost", "best_of", "ignore_eos"])
    expect(code(name)).toBe("unknown_parameter");
  for (const name of [
    "audio",
    "prediction",
    "web_search_options",
    "moderation",
    "functions",
    "function_call",
  ])
    expect(code(name)).toBe("unsupported_parameter");
});

test("anything but an object on top is refused as invalid_request", () => {
  for (const body of [null, [], [{}], "text", 1, true, undefined])
    expect(verdict(body)).toBe("invalid_request null");
});

test("an own __proto__ on top is an unknown parameter, null or not", () => {
  for (const value of ["null", "{}", '{"polluted":true}'])
    expect(verdict(JSON.parse(`{"__proto__":${value},"model":"m","messages":[]}`))).toBe(
      "unknown_parameter __proto__",
    );
});

test("100,000 top-level keys are refused at the first unknown one", () => {
  const members = Array.from({ length: 100_000 }, (_, index) => `"k${index}":1`);
  expect(verdict(parseJson(Buffer.from(`{${members.join(",")}}`)))).toBe("unknown_parameter k0");
});

test("the smallest body is a request with every default", () => {
  const { request, includeUsage } = parseChatRequest(bodyWith());
  expect(includeUsage).toBe(false);
  expect(request).toEqual({
    model: "base-preview-v1",
    messages: [{ role: "user", content: "Hello" }],
    maxTokens: null,
    tools: [],
    toolChoice: null,
    responseFormat: null,
    reasoning: null,
    n: 1,
    temperature: null,
    stop: [],
    logprobs: false,
    topLogprobs: null,
    logitBias: null,
    stream: false,
    forwarded: {},
    identifiers: {},
    ignored: [],
    images: 0,
  });
});

test("null and documented defaults are the same as leaving the field out", () => {
  const plain = parsed(bodyWith());
  const defaults = {
    n: 1,
    logprobs: false,
    store: false,
    modalities: ["text"],
    logit_bias: {},
    tools: [],
    stop: [],
    stream: false,
    top_p: 1,
    frequency_penalty: 0,
    presence_penalty: -0,
    parallel_tool_calls: true,
    verbosity: "medium",
    response_format: { type: "text" },
    service_tier: "auto",
    metadata: {},
    tool_choice: "auto",
    top_logprobs: 0,
    thinking: {},
    reasoning: { exclude: false },
  };
  for (const [name, value] of Object.entries(defaults))
    expect([name, parsed(bodyWith({ [name]: value }))]).toEqual([name, plain]);
  const optional = [
    ...Object.keys(defaults),
    "max_tokens",
    "max_completion_tokens",
    "temperature",
    "seed",
    "user",
  ];
  for (const name of [
    ...optional,
    "stream_options",
    "reasoning_effort",
    "prompt_cache_options",
    "enable_thinking",
  ])
    expect([name, parsed(bodyWith({ [name]: null }))]).toEqual([name, plain]);
});

test("what is given arrives: each accepted field in its place", () => {
  const { request, includeUsage } = parseChatRequest(
    bodyWith({
      max_tokens: 1.0,
      max_completion_tokens: 1,
      tools: [tool()],
      tool_choice: "required",
      response_format: {
        type: "json_schema",
        json_schema: { name: "a-1", schema: { type: "object" }, strict: true },
      },
      n: 3,
      temperature: 0,
      top_p: 0.5,
      frequency_penalty: -2,
      presence_penalty: 2,
      seed: -7,
      verbosity: "low",
      parallel_tool_calls: false,
      stop: "END",
      logprobs: true,
      top_logprobs: 20,
      logit_bias: { "50256": -100 },
      stream: true,
      stream_options: { include_usage: true, include_obfuscation: true },
      user: "u",
      safety_identifier: "s",
      prompt_cache_key: "p",
      metadata: { a: "b" },
      service_tier: "default",
      prompt_cache_retention: "24h",
      prompt_cache_options: { ttl: 1 },
    }),
  );
  expect(request).toMatchObject({
    maxTokens: 1,
    toolChoice: "required",
    responseFormat: {
      type: "json_schema",
      json_schema: { name: "a-1", schema: { type: "object" }, strict: true },
    },
    n: 3,
    temperature: 0,
    stop: ["END"],
    logprobs: true,
    topLogprobs: 20,
    logitBias: { "50256": -100 },
    stream: true,
  });
  expect(includeUsage).toBe(true);
  expect(request.forwarded).toEqual({
    top_p: 0.5,
    frequency_penalty: -2,
    presence_penalty: 2,
    seed: -7,
    verbosity: "low",
    parallel_tool_calls: false,
  });
  expect(request.identifiers).toEqual({ user: "u", safety_identifier: "s", prompt_cache_key: "p" });
  expect(request.ignored).toEqual([
    "stream_options.include_obfuscation",
    "metadata",
    "service_tier",
    "prompt_cache_retention",
    "prompt_cache_options",
  ]);
});

test("fields may come in any order, also tool_choice before tools and stream_options before stream", () => {
  const body = {
    tool_choice: "required",
    stream_options: {},
    messages: [user()],
    tools: [tool()],
    stream: true,
    model: "m",
  };
  expect(parseChatRequest(body)).toMatchObject({
    request: { toolChoice: "required", stream: true },
    includeUsage: false,
  });
});

test("a huge max_tokens is a valid bound here; the window decides about it later", () => {
  expect(parsed(bodyWith({ max_tokens: 2 ** 31 })).maxTokens).toBe(2 ** 31);
});

test("a refusal repeats at most 64 characters of the caller's and never sounds like a rate limit", () => {
  for (const value of [
    long,
    "429",
    "429 Too Many Requests",
    "Rate Limit",
    "rate_limit",
    `${"a".repeat(63)}😀😀`,
  ]) {
    const bodies = [
      bodyWith({ [value]: 1 }),
      bodyWith({ verbosity: value }),
      bodyWith({ messages: [{ role: value, content: "" }] }),
      bodyWith({ messages: [user([{ type: value }])] }),
      bodyWith({ messages: [{ role: "tool", content: "", tool_call_id: value }] }),
      bodyWith({ messages: [{ role: "assistant", tool_calls: [call(value)] }] }),
      bodyWith({ tool_choice: value }),
      bodyWith({ metadata: { [value]: 1 } }),
    ];
    for (const body of bodies) {
      const { message, param } = refusalOf(() => parsed(body));
      expect(message).not.toMatch(/429|rate.?limit/i);
      expect(message).not.toContain("x".repeat(65));
      expect(param?.length).toBeLessThan(100);
      expect(message.isWellFormed()).toBeTrue();
    }
  }
  const messages = Array.from({ length: 430 }, (_, index) => (index === 429 ? { role: "user" } : user()));
  const { message, param } = refusalOf(() => parsed(bodyWith({ messages })));
  expect(param).toBe("messages[429].content");
  expect(message).not.toContain("429");
});

const FULL = bodyWith({
  messages: [
    { role: "system", content: "s", name: "n" },
    user([
      { type: "text", text: "t" },
      { type: "image_url", image_url: { url: "https://example.com/a.png", detail: "low" } },
    ]),
    { role: "assistant", content: null, tool_calls: [call()], reasoning_content: "r", refusal: null },
    { role: "tool", content: "c", tool_call_id: "call_1" },
  ],
  tools: [tool()],
  tool_choice: { type: "allowed_tools", allowed_tools: { mode: "auto", tools: [tool()] } },
  response_format: { type: "json_schema", json_schema: { name: "a", schema: {} } },
  logit_bias: { "1": 1 },
  metadata: { a: "b" },
  stop: ["a"],
  stream: true,
  stream_options: { include_usage: true },
  reasoning: { effort: "high" },
  thinking: { type: "enabled" },
  max_tokens: 5,
});

/** Replaces the value at a random spot of a copy. */
function mutate(value: unknown, spots: number[], replacement: unknown): unknown {
  const [spot, ...rest] = spots;
  if (spot === undefined || typeof value !== "object" || value === null) return replacement;
  const keys = Object.keys(value);
  const key = keys[spot % (keys.length + 1)];
  if (key === undefined) return replacement;
  if (Array.isArray(value))
    return value.map((item: unknown, index) =>
      String(index) === key ? mutate(item, rest, replacement) : item,
    );
  return isJsonObject(value) ? { ...value, [key]: mutate(value[key], rest, replacement) } : replacement;
}

test("random bodies and broken valid ones are accepted or refused with 4xx and a path, never anything else", () => {
  expect(verdict(FULL)).toBe("accepted");
  const spots = fc.array(fc.nat(40), { minLength: 1, maxLength: 6 });
  const broken = fc.tuple(spots, fc.jsonValue({ maxDepth: 2 })).map(([at, value]) => mutate(FULL, at, value));
  fc.assert(
    fc.property(fc.oneof(broken, fc.jsonValue().map(parsedAgain)), (body) => {
      try {
        parsed(body);
      } catch (error) {
        expect(error).toBeInstanceOf(Refusal);
        expect((error as Refusal).status).toBe(400);
        if (isJsonObject(body)) expect((error as Refusal).param).toBeString();
      }
    }),
    { numRuns: 3_000 },
  );
});

function parsedAgain(value: unknown): unknown {
  try {
    return parseJson(Buffer.from(JSON.stringify(value)));
  } catch {
    return {};
  }
}
