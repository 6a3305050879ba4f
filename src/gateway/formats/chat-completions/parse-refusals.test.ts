import { expect, test } from "bun:test";
import fc from "fast-check";
import { bodyWith, call, parsed, refusalOf, tool, user, verdict } from "./chat-request.fixtures.ts";
import { parseJson } from "../../../domain/parse-json.ts";
import { isJsonObject } from "../../../domain/read-value.ts";
import { REFUSED_FIELDS } from "./refused-fields.ts";
import { Refusal } from "../../../domain/refusals.ts";
import { FIELD_SAMPLES } from "../../../domain/request-fields.fixtures.ts";

const long = "x".repeat(10_000);

/** hardening.md §2.4 and §2.5, as far as the body alone decides; the field's path is the second word. */
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
  [{ stop: ["a", "b", "c", "d", "e"] }, "array_above_max_length stop"],
  [{ stop: {} }, "invalid_request stop"],
  [{ stop: "" }, "invalid_request stop[0]"],
  [{ stop: ["a", null] }, "invalid_request stop[1]"],
  [{ stop: [50256] }, "raw_token_ids_not_allowed stop"],
  [{ prompt: [1, 2, 3] }, "raw_token_ids_not_allowed prompt"],
  [{ prompt: "Hello" }, "unknown_parameter prompt"],
  [{ top_logprobs: 5 }, "invalid_request top_logprobs"],
  [{ top_logprobs: 5, logprobs: false }, "invalid_request top_logprobs"],
  [{ stream: "true" }, "invalid_request stream"],
  [{ stream: 1 }, "invalid_request stream"],
  [{ stream_options: { include_usage: true } }, "invalid_request stream_options"],
  [{ stream: false, stream_options: {} }, "invalid_request stream_options"],
  [{ stream: true, stream_options: [] }, "invalid_request stream_options"],
  [{ stream: true, stream_options: { include_usage: 1 } }, "invalid_request stream_options.include_usage"],
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

for (const [name, { refused, beside }] of FIELD_SAMPLES)
  for (const [value, expected] of refused) REFUSED.push([{ ...beside, [name]: value }, expected]);

for (const [fields, expected] of REFUSED) {
  const shown = JSON.stringify(fields, (_, value: unknown) => (value === undefined ? "(missing)" : value));
  test(`${shown.slice(0, 90)} is refused: ${expected.slice(0, 60)}`, () => {
    expect(verdict(bodyWith(fields))).toBe(expected);
  });
}

test("every field that is refused by name keeps its code; null, and a default spelled out, count as absent for it", () => {
  expect(REFUSED_FIELDS.size).toBe(60);
  for (const [name, { code, defaults = [] }] of REFUSED_FIELDS) {
    for (const value of [{}, false, ["x"]].filter((one) => !defaults.includes(one)))
      expect(verdict(bodyWith({ [name]: value }))).toBe(`${code} ${name}`);
    for (const value of [null, ...defaults]) expect(verdict(bodyWith({ [name]: value }))).toBe("accepted");
  }
});

test("raw token ids and adapters have no default that says nothing; older words of OpenAI's schema do", () => {
  const defaults = [...REFUSED_FIELDS].flatMap(([name, row]) => (row.defaults === undefined ? [] : [name]));
  const older = ["functions", "function_call"];
  expect(defaults).toEqual([...older, "best_of", "use_beam_search", "ignore_eos", "min_tokens", "top_k"]);
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

/** Replaces the value at a random place of a copy. */
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
