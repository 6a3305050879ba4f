// What is sent is what is priced (money.md §6).
import { expect, test } from "bun:test";
import fc from "fast-check";
import { GEMINI_CEILING, geminiOutgoing } from "./google.fixtures.ts";

const DATA = "A".repeat(1000);
const word = fc.string({
  unit: fc.constantFrom("a", "é", "漢", "😀", "\n", '"', "\\", "\u0001", "\ud800"),
  maxLength: 12,
});
const json = fc.jsonValue({ maxDepth: 3 }).map((value) => ({ any: value }));
const part = fc.oneof(
  fc.record({ type: fc.constant("text" as const), text: word }),
  fc.record({
    type: fc.constant("image_url" as const),
    image_url: fc.constantFrom(
      { url: `data:image/png;base64,${DATA}` },
      { url: "https://example.com/漢.png" },
    ),
  }),
);
const called = fc.record({
  id: word,
  type: fc.constant("function" as const),
  function: fc.record({
    name: word,
    arguments: fc.oneof(
      word,
      json.map((value) => JSON.stringify(value)),
    ),
  }),
  extra_content: fc.constantFrom({}, { google: { thought_signature: "c2lnbmF0dXJl" } }),
});
const message = fc.oneof(
  fc.record({
    role: fc.constantFrom("user" as const, "system" as const, "developer" as const),
    content: fc.oneof(word, fc.array(part, { minLength: 1, maxLength: 4 })),
    name: word,
  }),
  fc.record({
    role: fc.constant("assistant" as const),
    content: fc.option(word),
    tool_calls: fc.array(called, { minLength: 1, maxLength: 3 }),
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
    forwarded: fc.constant({ seed: Number.MAX_SAFE_INTEGER, top_p: 0.123456789 }),
  })
  .map((request) => ({
    ...request,
    images: request.messages
      .flatMap(({ content }) => (Array.isArray(content) ? content : []))
      .filter(({ type }) => type === "image_url").length,
  }));

interface Sent {
  systemInstruction?: { parts: { text: string }[] };
  contents: { parts: Record<string, unknown>[] }[];
  tools?: unknown;
  generationConfig: { stopSequences?: string[]; responseJsonSchema?: unknown };
}

/** Bytes of the text as it is sent, less the data of inline images. */
function sentBytes(text: string): number {
  let bytes = Buffer.byteLength(text);
  for (const { parts } of (JSON.parse(text) as Sent).contents)
    for (const { inlineData } of parts) if (inlineData !== undefined) bytes -= DATA.length;
  return bytes;
}

test("nothing that is forwarded escapes the bound: it is the bytes that go upstream, less inline images", () => {
  fc.assert(
    fc.property(
      anyRequest,
      fc.constantFrom(null, "none", "low", "high", "20000"),
      fc.constantFrom("gemini-2.5-pro", "gemini-2.5-flash", "gemini-3.8-flash"),
      (request, reasoningEffort, model) => {
        const body = geminiOutgoing(request, { reasoningEffort, model });
        for (const ceiling of [1, 5, 150, 700, 10_000, Number.MAX_SAFE_INTEGER]) {
          const sent = sentBytes(body.print(ceiling));
          expect(body.size.bytes).toBeGreaterThanOrEqual(sent);
          expect(body.size.bytes).toBeLessThan(sent + 25);
        }
        expect(Buffer.byteLength(body.text())).toBeLessThanOrEqual(body.size.bytes);
      },
    ),
  );
});

test("every text that is forwarded is in the text of the exact count, however it is nested or escaped", () => {
  fc.assert(
    fc.property(anyRequest, (request) => {
      const body = geminiOutgoing(request, { reasoningEffort: "high" });
      const { systemInstruction, contents, tools, generationConfig } = JSON.parse(
        body.print(GEMINI_CEILING),
      ) as Sent;
      const { stopSequences, responseJsonSchema } = generationConfig;
      const parts = contents.flatMap((content) => content.parts);
      const text = body.text();
      for (const leaf of leavesOf([systemInstruction, parts, tools, stopSequences, responseJsonSchema]))
        if (leaf !== DATA) expect(text).toInclude(leaf);
    }),
  );
});

function leavesOf(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(leavesOf);
}

test("a printed body is JSON whatever the ceiling, with the ceiling in it", () => {
  fc.assert(
    fc.property(anyRequest, fc.integer({ min: 1 }), (request, ceiling) => {
      const { generationConfig } = JSON.parse(geminiOutgoing(request).print(ceiling)) as {
        generationConfig: { maxOutputTokens: number };
      };
      expect(generationConfig.maxOutputTokens).toBe(ceiling);
    }),
  );
});
