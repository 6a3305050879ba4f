// Unexpected bodies, on every surface and for every upstream shape: valid ones with anything put anywhere, and text
// that is not JSON. Each gets an answer or a refusal: never a 500, a log line about a bug, or a leftover hold
// (hardening.md §2).
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createLog } from "../../src/lib/log.ts";
import { addFaces } from "../support/faces.ts";
import { type Customer, startGateway, type TestGateway } from "../support/gateway.ts";
import { ON_EVERY_SHAPE, onProvider, PLAIN, PREVIEW_V1, VECTORS } from "../support/models.ts";

/** `FUZZ_SEED` repeats a finding, `FUZZ_BODIES` searches for longer. */
const SEED = Number(process.env["FUZZ_SEED"] ?? 1);
const BODIES = Number(process.env["FUZZ_BODIES"] ?? 150);
/** Below the number that one organization may have counted. */
const AT_ONCE = 3;

const ON_AWS = onProvider(
  { ...PREVIEW_V1, model: "on-aws", upstream_model: "anthropic.claude-opus-4-5" },
  "aws",
);
const MODELS = [PLAIN, ...ON_EVERY_SHAPE, ON_AWS];

let gateway: TestGateway;
let customer: Customer;
const lines: string[] = [];
beforeAll(async () => {
  const log = createLog("info", { write: (line) => void lines.push(line) });
  gateway = await startGateway({ configure: addFaces, models: [...MODELS, VECTORS], log });
  customer = await gateway.customer({ usd: "100000" });
}, 120_000);
afterAll(() => gateway.stop());

type Json = unknown;
type Draw = (below: number) => number;

/** Deterministic for a seed (mulberry32). */
function drawing(seed: number): Draw {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296) * below);
  };
}

const IMAGE = "data:image/png;base64,iVBORw0KGgo=";
const PARAMETERS = { type: "object", properties: { a: { type: "string", enum: ["b"] } }, required: ["a"] };

/** A body with most of the fields of its surface. */
const SEEDS: Record<string, Record<string, Json>> = {
  "chat/completions": {
    max_tokens: 5,
    messages: [
      { role: "system", content: "s" },
      {
        role: "user",
        content: [
          { type: "text", text: "t" },
          { type: "image_url", image_url: { url: IMAGE } },
        ],
      },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "c1", content: "r" },
      { role: "user", content: "x" },
    ],
    tools: [
      { type: "function", function: { name: "f", description: "d", parameters: PARAMETERS, strict: true } },
    ],
    tool_choice: { type: "function", function: { name: "f" } },
    stop: ["a"],
    temperature: 1,
    stream: true,
    stream_options: { include_usage: true },
    response_format: { type: "json_schema", json_schema: { name: "n", schema: PARAMETERS } },
    metadata: { a: "b" },
    reasoning_effort: "low",
  },
  completions: { prompt: ["x"], max_tokens: 5, temperature: 0, stop: "a", logit_bias: {}, n: 1, user: "u" },
  messages: {
    max_tokens: 2048,
    system: [{ type: "text", text: "s", cache_control: { type: "ephemeral" } }],
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: "t" },
          { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" } },
        ],
      },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "t", signature: "s" },
          { type: "tool_use", id: "t1", name: "f", input: { a: "b" } },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "t1", content: [{ type: "text", text: "r" }], is_error: false },
        ],
      },
    ],
    tools: [{ name: "f", description: "d", input_schema: PARAMETERS }],
    tool_choice: { type: "auto", disable_parallel_tool_use: true },
    thinking: { type: "enabled", budget_tokens: 1024 },
    metadata: { user_id: "u" },
    stop_sequences: ["a"],
    stream: true,
  },
  responses: {
    max_output_tokens: 16,
    instructions: "i",
    input: [
      {
        type: "message",
        role: "user",
        content: [
          { type: "input_text", text: "t" },
          { type: "input_image", image_url: IMAGE },
        ],
      },
      {
        type: "reasoning",
        id: "rs1",
        summary: [{ type: "summary_text", text: "s" }],
        encrypted_content: "e",
      },
      { type: "function_call", call_id: "c1", name: "f", arguments: "{}" },
      { type: "function_call_output", call_id: "c1", output: "r" },
    ],
    tools: [{ type: "function", name: "f", parameters: PARAMETERS, strict: false }],
    tool_choice: { type: "function", name: "f" },
    text: { format: { type: "json_schema", name: "n", schema: PARAMETERS }, verbosity: "low" },
    reasoning: { effort: "low", summary: "auto" },
    include: ["reasoning.encrypted_content"],
    store: false,
    stream: true,
    metadata: { a: "b" },
  },
  embeddings: { input: ["a", "b"], dimensions: 8, encoding_format: "float", user: "u" },
};
const PATHS = [
  ...Object.keys(SEEDS),
  "chat/completions/quote",
  "messages/count_tokens",
  "responses/input_tokens",
];
const seedOf = (path: string): Record<string, Json> =>
  SEEDS[path] ?? SEEDS[path.replace(/\/[a-z_]+$/, "")] ?? {};

/**
 * Printed verbatim, so that it can be something JSON.stringify cannot produce: a huge number, half a surrogate pair,
 * a duplicate key.
 */
class Text {
  constructor(readonly json: string) {}
}
const deep = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);
const ODD: readonly Json[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  -0,
  1e21,
  2 ** 53,
  "",
  " ",
  "a",
  "\n\n",
  "data: [DONE]",
  "null",
  "__proto__",
  "constructor",
  [],
  {},
  [[]],
  [null],
  { "": null },
  { type: null },
  { type: "text" },
  { type: "text", text: 1 },
  { role: "user" },
  { length: 5 },
  { toString: 1, valueOf: 2 },
  { toJSON: "a" },
  new Text('{"then":"a"}'),
  new Text("1e400"),
  new Text("-1e400"),
  new Text("123456789012345678901234567890"),
  new Text("1e-400"),
  new Text("-0.0"),
  new Text('"\\ud800"'),
  new Text('"\\udfff\\ud800"'),
  new Text('"\\u0000"'),
  new Text('{"__proto__":{"a":1}}'),
  new Text('{"__proto__":null}'),
  new Text('{"a":1,"a":2}'),
  new Text('{"constructor":{"prototype":{"a":1}}}'),
  new Text(deep(40)),
  new Text(deep(70)),
  new Text(deep(5_000)),
  new Text('{"a":'.repeat(50) + "1" + "}".repeat(50)),
  new Text("NaN"),
  new Text("'a'"),
  new Text("01"),
  new Text(""),
  new Text('"\u2028"'),
  new Text('"\ufeff"'),
  "é".repeat(300),
  "\u{1f600}".repeat(50),
  "a".repeat(70_000),
  Array.from({ length: 3_000 }, () => "a"),
  Array.from({ length: 300 }, () => ({})),
  Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`k${n}`, n])),
];

/** Puts odd values anywhere; removes, duplicates and swaps members. */
function mutated(value: Json, draw: Draw, often: number): Json {
  if (draw(often) === 0) return ODD[draw(ODD.length)];
  if (Array.isArray(value)) {
    const items = value.map((item) => mutated(item, draw, often));
    if (draw(often) === 0) items.push(...items);
    if (draw(often) === 0) items.reverse();
    if (draw(often) === 0) items.splice(draw(items.length + 1), 1);
    return items;
  }
  if (typeof value !== "object" || value === null || value instanceof Text) return value;
  const members = Object.entries(value).filter(() => draw(often) !== 0);
  const mutants = members.map(([name, member]) => [name, mutated(member, draw, often)] as const);
  if (draw(often) === 0)
    mutants.push([["__proto__", "extra", "type", "id", "n"][draw(5)] ?? "", ODD[draw(ODD.length)]]);
  return new Text(
    `{${mutants.map(([name, member]) => `${JSON.stringify(name)}:${print(member)}`).join(",")}}`,
  );
}

function print(value: Json): string {
  if (value instanceof Text) return value.json;
  if (Array.isArray(value)) return `[${value.map(print).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([name, member]) => `${JSON.stringify(name)}:${print(member)}`)
    .join(",")}}`;
}

function bodyOf(path: string, draw: Draw): string {
  const seed = seedOf(path);
  const some = Object.fromEntries(
    Object.entries(seed).filter(([name]) => /messages|input|prompt|max/.test(name) || draw(2) === 0),
  );
  const model = path === "embeddings" ? VECTORS.model : (MODELS[draw(MODELS.length)]?.model ?? "");
  const text = print(
    mutated({ model: draw(40) === 0 ? ODD[draw(ODD.length)] : model, ...some }, draw, 15 + draw(400)),
  );
  return draw(40) === 0 ? text.slice(0, draw(text.length)) : text;
}

test.each(PATHS)(
  "POST /v1/%s",
  async (path) => {
    const draw = drawing(SEED * 1_000 + PATHS.indexOf(path));
    const bodies = Array.from({ length: BODIES }, () => bodyOf(path, draw));
    const statuses: Record<string, number> = {};
    const wrong: unknown[] = [];
    const lane = async (): Promise<void> => {
      for (let body = bodies.pop(); body !== undefined; body = bodies.pop()) {
        const answer = await fetch(`${gateway.baseUrl}/${path}`, {
          method: "POST",
          headers: { authorization: `Bearer ${customer.secret}`, "content-type": "application/json" },
          body,
        });
        const text = await answer.text();
        const { status } = answer;
        statuses[status] = (statuses[status] ?? 0) + 1;
        if (![200, 400, 402, 404].includes(status) || text.includes("internal_error"))
          wrong.push({ status, text, body: body.slice(0, 3_000) });
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, lane));
    console.info(path, JSON.stringify(statuses));
    expect(wrong.slice(0, 3)).toEqual([]);
    expect(Object.keys(statuses)).toContain("400");
  },
  120_000,
);

test("nothing is held, nothing in the log tells of a bug", async () => {
  await gateway.assertSound();
  expect(lines.filter((line) => /"stack"|"level":50|"level":60|at .*\.ts:\d/.test(line)).slice(0, 5)).toEqual(
    [],
  );
});
