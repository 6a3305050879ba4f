// What is sent upstream is what was priced (money.md §6): tested over HTTP, with a provider that records what it
// gets.
import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import { filePart, samplePdf } from "../../src/lib/pdf.fixtures.ts";
import type { ErrorJson } from "../support/events.ts";
import { type Customer, startGateway, type TestGateway } from "../support/gateway.ts";
import { onProvider, PLAIN, PREVIEW_V1, type TestManifest } from "../support/models.ts";

const FILE_TOKENS = 3000;
const KEPT: TestManifest = {
  ...PREVIEW_V1,
  model: "kept-1",
  provider: "keeper",
  requires_paid: false,
  capabilities: { ...PREVIEW_V1.capabilities, files: true },
  file_tokens_max: FILE_TOKENS,
  file_pages_max: 1,
};
const NARROW: TestManifest = { ...PLAIN, model: "narrow-1", context_window: 2000, max_output_tokens: 2000 };
/** Two providers of one model: the second one gets its state back, so it is sent more. */
const BOTH: TestManifest = { ...KEPT, model: "both-1", priority: 1 };

let keeper: Bun.Server<undefined>;
let last = "";
let gateway: TestGateway;
let customer: Customer;
beforeAll(async () => {
  keeper = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      last = await request.text();
      return Response.json({
        id: "k",
        choices: [{ index: 0, message: { role: "assistant", content: "ok" }, finish_reason: "stop" }],
        usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
      });
    },
  });
  gateway = await startGateway({
    providers: { keeper: `http://127.0.0.1:${keeper.port}/v1` },
    models: [KEPT, NARROW, BOTH, onProvider(BOTH, "simulator", { priority: 2 })],
  });
  customer = await gateway.customer({ usd: "1000" });
});
afterAll(async () => {
  await gateway.assertSound();
  await gateway.stop();
  await keeper.stop(true);
});

interface QuoteJson {
  admissible: boolean;
  prompt_tokens_max: number;
}
const quote = async (body: object): Promise<QuoteJson> => {
  const reply = await fetch(`${gateway.baseUrl}/chat/completions/quote`, {
    method: "POST",
    headers: { authorization: `Bearer ${customer.secret}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return (await reply.json()) as QuoteJson;
};

const IMAGE = `data:image/png;base64,${"A".repeat(5000)}`;
const PDF = filePart(samplePdf(), "a.pdf");
const word = fc.string({
  unit: fc.constantFrom("a", "é", "漢", "😀", "\n", '"', "\\"),
  minLength: 1,
  maxLength: 30,
});
const turn = fc
  .tuple(word, word, word, fc.uuid(), fc.dictionary(word, word))
  .map(([said, name, text, id, extra]) => [
    {
      role: "user",
      name,
      content: [{ type: "text", text: said }, { type: "image_url", image_url: { url: IMAGE } }, PDF],
    },
    {
      role: "assistant",
      content: null,
      reasoning_content: text,
      tool_calls: [
        {
          id,
          type: "function",
          function: { name: "f", arguments: text },
          extra_content: { keeper: { extra } },
        },
      ],
    },
    { role: "tool", tool_call_id: id, content: text },
  ]);
const body = fc.record({
  messages: fc.array(turn, { minLength: 1, maxLength: 3 }).map((turns) => turns.flat()),
  tools: fc.uniqueArray(fc.stringMatching(/^[a-z]{1,12}$/), { maxLength: 3 }).map((names) =>
    names.map((name) => ({
      type: "function",
      function: { name, description: "d\n".repeat(9), parameters: { name } },
    })),
  ),
  stop: fc.array(word, { minLength: 1, maxLength: 4 }),
  seed: fc.maxSafeInteger(),
  user: word,
  response_format: word.map((text) => ({
    type: "json_schema",
    json_schema: { name: "n", schema: { text } },
  })),
});

test("whatever is asked, the quoted prompt covers every byte that goes upstream but inline images and files", async () => {
  await fc.assert(
    fc.asyncProperty(body, async (fields) => {
      const asked = { model: "kept-1", ...fields };
      const { prompt_tokens_max: bound, admissible } = await quote(asked);
      expect(admissible).toBe(true);
      expect((await gateway.chat(customer, asked)).status).toBe(200);
      const images = last.split(IMAGE).length - 1;
      const files = last.split(PDF.file.file_data).length - 1;
      const weighed = Buffer.byteLength(last) - images * IMAGE.length - files * PDF.file.file_data.length;
      expect([images, files]).toEqual([fields.messages.length / 3, fields.messages.length / 3]);
      expect(bound - images * 1000 - files * FILE_TOKENS).toBeGreaterThanOrEqual(weighed);
    }),
    { numRuns: 25 },
  );
}, 120_000);

test("with several routes the quote covers the one that is sent most", async () => {
  const state = "s".repeat(5000);
  const call = { id: "c", type: "function", function: { name: "f", arguments: "{}" } };
  const withState = (family: string): object => ({
    model: "both-1",
    messages: [
      { role: "assistant", content: null, tool_calls: [{ ...call, extra_content: { [family]: { state } } }] },
      { role: "tool", tool_call_id: "c", content: "x" },
    ],
  });
  for (const family of ["keeper", "simulator"])
    expect((await quote(withState(family))).prompt_tokens_max).toBeGreaterThan(5000);
  expect((await quote(withState("nobody"))).prompt_tokens_max).toBeLessThan(1000);
});

const MEGABYTE = "x".repeat(1_000_000);
const calledAs = (id: string, name = "f"): object[] => [
  { role: "user", content: "Hi" },
  {
    role: "assistant",
    content: null,
    tool_calls: [{ id, type: "function", function: { name, arguments: "{}" } }],
  },
  { role: "tool", tool_call_id: id, content: "x" },
];

test.each([
  ["messages[1].tool_calls[0].id", { messages: calledAs(MEGABYTE) }],
  ["messages[1].tool_calls[0].function.name", { messages: calledAs("c", MEGABYTE) }],
  ["messages[0].name", { messages: [{ role: "user", content: "Hi", name: MEGABYTE }] }],
  ["messages[0].tool_call_id", { messages: [{ role: "tool", content: "Hi", tool_call_id: MEGABYTE }] }],
  ["stop[0]", { messages: calledAs("c"), stop: [MEGABYTE] }],
  ["user", { messages: calledAs("c"), user: MEGABYTE }],
  ["prompt_cache_key", { messages: calledAs("c"), prompt_cache_key: MEGABYTE }],
])("a megabyte as %s is refused by name, and nobody is called", async (param, fields) => {
  last = "";
  const { status, json } = await gateway.chat<ErrorJson>(customer, { model: "kept-1", ...fields });
  expect([status, json.error.code, json.error.param]).toEqual([400, "string_above_max_length", param]);
  expect(last).toBe("");
});

test("a megabyte where there is no maximum is held for", async () => {
  const messages = [{ role: "user", content: "Hi" }, ...calledAs("c").slice(1)];
  const tools = [{ type: "function", function: { name: "f", parameters: { [MEGABYTE]: 1 } } }];
  // Counted exactly, because a million bytes exceed the window: eight of these letters are one token.
  for (const asked of [
    { messages, tools },
    { messages: [{ role: "user", content: MEGABYTE }] },
    { messages, response_format: { type: "json_schema", json_schema: { name: "n", schema: { MEGABYTE } } } },
  ])
    expect((await quote({ model: "kept-1", ...asked })).prompt_tokens_max).toBeGreaterThan(100_000);
});

test("the point where counting stopped is reported in each surface's format", async () => {
  const content = 'She said: "it\'s\n\n fine".\n'.repeat(4000);
  const ask = async (path: string, prompt: object): Promise<string> => {
    const response = await fetch(`${gateway.baseUrl}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${customer.secret}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "narrow-1", ...prompt }),
    });
    const { error } = (await response.json()) as ErrorJson;
    expect([response.status, error.code]).toEqual([400, "context_length_exceeded"]);
    return error.message;
  };
  expect(await ask("/responses", { input: content })).toEndWith("before the end of the input.");
  const messages = [{ role: "user", content }];
  expect(await ask("/chat/completions", { messages })).toEndWith("before the end of the messages.");
});

test("if only the byte bound is too high, the exact count decides: one token too many is refused, one less is not", async () => {
  const content = 'She said: "it\'s\n\n fine".\n'.repeat(40);
  const ask = (max_tokens: number): Promise<{ status: number; json: ErrorJson }> =>
    gateway.chat<ErrorJson>(customer, {
      model: "narrow-1",
      messages: [{ role: "user", content }],
      max_tokens,
    });
  const refused = await ask(2000);
  expect([refused.status, refused.json.error.code]).toEqual([400, "context_length_exceeded"]);
  const { prompt_tokens: exact } = refused.json.error.details as { prompt_tokens: number };
  const bound = (await quote({ model: "narrow-1", messages: [{ role: "user", content }], max_tokens: 1 }))
    .prompt_tokens_max;
  expect(exact).toBeLessThan(bound / 2);
  expect((await ask(2000 - exact + 1)).status).toBe(400);
  expect((await ask(2000 - exact)).status).toBe(200);
});
