// What is sent is what is priced (money.md §6).
import { expect, test } from "bun:test";
import fc from "fast-check";
import type { ChatRequest } from "../../domain/chat-request.ts";
import { prepared } from "./request-body.fixtures.ts";

const DATA = "A".repeat(1000);
const word = fc.string({
  unit: fc.constantFrom("a", "é", "漢", "😀", "\n", '"', "\\", "\u0001", "\ud800"),
  maxLength: 12,
});
const json = fc.jsonValue({ maxDepth: 3 }).map((value) => ({ any: value }));
const image = fc.record({
  type: fc.constant("image_url" as const),
  image_url: fc.record({
    url: fc.constantFrom(`data:image/png;base64,${DATA}`, "https://pictures.test/a.png"),
  }),
});
const part = fc.oneof(fc.record({ type: fc.constant("text" as const), text: word }), image);
const thought = fc.oneof(
  fc.record({
    type: fc.constant("thinking"),
    thinking: word,
    signature: word,
    after: fc.nat({ max: 20 }).map(String),
  }),
  fc.record({ type: fc.constant("redacted_thinking"), data: word }),
);
const call = fc.record({
  id: word,
  type: fc.constant("function" as const),
  function: fc.record({
    name: word,
    arguments: fc.oneof(
      word,
      json.map((value) => JSON.stringify(value)),
    ),
  }),
  extra_content: fc.record({ anthropic: fc.record({ thinking: fc.array(thought, { maxLength: 3 }) }) }),
});
const message = fc.oneof(
  fc.record({
    role: fc.constantFrom("user" as const, "system" as const, "developer" as const),
    content: fc.oneof(word, fc.array(part, { minLength: 1, maxLength: 4 })),
    name: word,
  }),
  fc.record({
    role: fc.constant("assistant" as const),
    content: fc.oneof(fc.constant(null), word),
    tool_calls: fc.array(call, { minLength: 1, maxLength: 3 }),
    refusal: word,
  }),
  fc.record({ role: fc.constant("tool" as const), content: word, tool_call_id: word }),
);
const anyRequest = fc
  .record({
    messages: fc.array(message, { minLength: 1, maxLength: 6 }),
    tools: fc.array(
      fc.record({
        type: fc.constant("function" as const),
        function: fc.record({ name: word, description: word, parameters: json }),
      }),
      { maxLength: 3 },
    ),
    responseFormat: fc.option(
      fc.record({
        type: fc.constant("json_schema" as const),
        json_schema: fc.record({ name: word, schema: json }),
      }),
    ),
    stop: fc.array(word, { maxLength: 4 }),
    stream: fc.boolean(),
    forwarded: fc.constant({ top_p: 0.123456789 }),
    identifiers: fc.record({ user: word }),
  })
  .map(({ messages, ...request }) => ({
    ...request,
    messages,
    images: messages
      .flatMap(({ content }) => (Array.isArray(content) ? content : []))
      .filter(({ type }) => type === "image_url").length,
  }));
const anyHow = fc.record({
  model: fc.constantFrom("claude-haiku-4-5", "claude-opus-4-6", "claude-opus-5-5", "ours"),
  reasoningEffort: fc.constantFrom(null, "none", "low", "max", "20000"),
});

interface Sent {
  system?: { text: string }[];
  messages: { role: string; content: Record<string, unknown>[] }[];
  [name: string]: unknown;
}

/** Bytes of the text as it is sent, less the data of inline images. */
function sentBytes(text: string): number {
  const images = text.split(DATA).length - 1;
  return Buffer.byteLength(text) - images * DATA.length;
}

const settled = (request: Partial<ChatRequest>, how: Parameters<typeof prepared>[1]) =>
  prepared(request, { identifiers: { user: "u".repeat(43) }, ...how });

test("nothing that is forwarded escapes the bound: it is the bytes that go upstream, less inline images", () => {
  fc.assert(
    fc.property(anyRequest, anyHow, (request, how) => {
      const body = settled(request, how);
      for (const ceiling of [1, 50_000, Number.MAX_SAFE_INTEGER]) {
        const sent = sentBytes(body.print(ceiling));
        expect(body.size.bytes).toBeGreaterThanOrEqual(sent);
        expect(body.size.bytes).toBeLessThan(sent + 80);
      }
      expect(Buffer.byteLength(body.text())).toBeLessThanOrEqual(body.size.bytes);
    }),
  );
});

test("every text that is forwarded is in the text of the exact count", () => {
  fc.assert(
    fc.property(anyRequest, anyHow, (request, how) => {
      const body = settled(request, how);
      const {
        system = [],
        messages,
        tools,
        output_config,
        stop_sequences,
      } = JSON.parse(body.print(64)) as Sent;
      const text = body.text();
      const blocks = [...system, ...messages.flatMap(({ content }) => content)];
      for (const leaf of leavesOf([blocks, tools, output_config, stop_sequences]))
        if (leaf !== DATA && !FRAME.has(leaf)) expect(text).toInclude(leaf);
    }),
  );
});

test("what goes out keeps the vendor's rules, whatever comes in", () => {
  fc.assert(
    fc.property(anyRequest, anyHow, (request, how) => {
      const {
        messages,
        system = [],
        max_tokens,
        thinking,
        ...rest
      } = JSON.parse(settled(request, how).print(4096)) as Sent;
      expect(messages.length).toBeGreaterThan(0);
      const open = new Set<unknown>();
      const ids = new Set<unknown>();
      for (const [at, { role, content }] of messages.entries()) {
        expect(role).toBe(at % 2 === 0 ? "user" : "assistant");
        expect(content.length).toBeGreaterThan(0);
        const results = content.filter(({ type }) => type === "tool_result");
        expect(content.slice(0, results.length)).toEqual(results);
        expect(new Set(results.map((one) => one["tool_use_id"]))).toEqual(new Set(open));
        expect(results).toHaveLength(open.size);
        open.clear();
        for (const { type, id } of content)
          if (type === "tool_use") {
            expect(ids.has(id)).toBe(false);
            ids.add(id);
            open.add(id);
          }
      }
      expect(messages.length % 2).toBe(1);
      for (const block of [...system, ...messages.flatMap(({ content }) => content)])
        if ("text" in block) expect(String(block.text).trim()).not.toBe("");
      const { budget_tokens: budget } = (thinking ?? {}) as { budget_tokens?: number };
      if (budget !== undefined) {
        expect(budget).toBeGreaterThanOrEqual(1024);
        expect(budget).toBeLessThan(Number(max_tokens));
      }
      if (ids.size > 0) expect(rest).toHaveProperty("tools");
    }),
  );
});

/** Words of the shape itself. */
const FRAME = new Set(["text", "image", "tool_use", "tool_result"]);

function leavesOf(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(leavesOf);
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value)
    .flatMap(([name, inner]) => [name, ...leavesOf(inner)])
    .filter((leaf) => leaf !== "type" && leaf !== "text");
}
