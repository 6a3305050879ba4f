// What is sent is what is priced (money.md §6).
import { expect, test } from "bun:test";
import fc from "fast-check";
import type { ChatRequest } from "../../domain/chat-request.ts";
import { FIELD_SAMPLES, type FieldSample } from "../../domain/request-fields.fixtures.ts";
import { DIALECTS } from "./dialects.ts";
import { CEILING, outgoing, samplesHeld } from "./outgoing-body.fixtures.ts";

const DATA = "A".repeat(1000);
const word = fc.string({
  unit: fc.constantFrom("a", "é", "漢", "😀", "\n", '"', "\\", "\u0001", "\ud800"),
  maxLength: 12,
});
const json = fc.jsonValue({ maxDepth: 3 }).map((value) => ({ any: value }));
const image = fc.record({
  type: fc.constant("image_url" as const),
  image_url: fc.record({
    url: word.map((name) => `data:image/png;base64,${DATA}${name.replaceAll(/\W/g, "")}`),
  }),
});
const part = fc.oneof(fc.record({ type: fc.constant("text" as const), text: word }), image);
const called = fc.record({
  id: word,
  type: fc.constant("function" as const),
  function: fc.record({ name: word, arguments: word }),
  extra_content: fc.record({ acme: json }),
});
const message = fc.oneof(
  fc.record({
    role: fc.constantFrom("user" as const, "system" as const, "developer" as const),
    content: fc.oneof(word, fc.array(part, { minLength: 1, maxLength: 4 })),
    name: word,
  }),
  fc.record({
    role: fc.constant("assistant" as const),
    content: fc.constant(null),
    tool_calls: fc.array(called, { minLength: 1, maxLength: 3 }),
    reasoning_content: word,
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
    applied: fc.record(
      { logit_bias: fc.dictionary(fc.stringMatching(/^\d{1,9}$/), fc.integer(), { minKeys: 1 }) },
      { requiredKeys: [] },
    ),
    forwarded: fc.constant({ seed: Number.MAX_SAFE_INTEGER, top_p: 0.123456789, verbosity: "high" as const }),
    identifiers: fc.record({ user: word }),
  })
  .map(({ messages, ...request }) => ({
    ...request,
    messages,
    images: messages
      .flatMap(({ content }) => (Array.isArray(content) ? content : []))
      .filter(({ type }) => type === "image_url").length,
  }));

/** Bytes of the text as it is sent, less the addresses of inline images. */
function sentBytes(text: string): number {
  const { messages } = JSON.parse(text) as ChatRequest;
  let bytes = Buffer.byteLength(text);
  for (const { content } of messages)
    for (const given of Array.isArray(content) ? content : [])
      if (given.type === "image_url") bytes -= Buffer.byteLength(given.image_url.url);
  return bytes;
}

test("nothing that is forwarded escapes the bound: it is the bytes that go upstream, less inline images", () => {
  fc.assert(
    fc.property(anyRequest, fc.constantFrom(...Object.values(DIALECTS)), (request, dialect) => {
      const body = outgoing(
        request,
        { reasoningEffort: "high", identifiers: { user: "u".repeat(43) } },
        dialect,
      );
      for (const ceiling of [1, Number.MAX_SAFE_INTEGER]) {
        const sent = sentBytes(body.print(ceiling));
        expect(body.size.bytes).toBeGreaterThanOrEqual(sent);
        expect(body.size.bytes).toBeLessThan(sent + 20);
      }
      expect(Buffer.byteLength(body.text())).toBeLessThanOrEqual(body.size.bytes);
    }),
  );
});

test("every text that is forwarded is in the text of the exact count, however it is nested or escaped", () => {
  fc.assert(
    fc.property(anyRequest, (request) => {
      const body = outgoing(request, { reasoningEffort: "high" });
      const {
        messages,
        tools: sent,
        response_format: format,
        stop,
        logit_bias: bias,
      } = JSON.parse(body.print(CEILING)) as Record<string, unknown>;
      const text = body.text();
      for (const leaf of leavesOf([messages, sent, format, stop, bias]))
        if (!leaf.startsWith("data:image/") && !FRAME.has(leaf)) expect(text).toInclude(leaf);
    }),
  );
});

/** Roles are a message's frame, which has its flat overhead. */
const FRAME = new Set(["user", "system", "developer", "assistant", "tool"]);

function leavesOf(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(leavesOf);
}

test("a plain field is in the exact count where it has text that is no setting", () => {
  const textWith = (held: FieldSample["held"], fields: Record<string, unknown>): string =>
    outgoing(
      { [held]: fields },
      held === "identifiers" ? { identifiers: samplesHeld.identifiers } : {},
    ).text();
  for (const [name, { held, given, setting }] of FIELD_SAMPLES) {
    const counted = setting !== true && (typeof given === "string" || typeof given === "object");
    const text = textWith(held, { [name]: given }).slice(textWith("forwarded", {}).length);
    expect([name, text]).toEqual([name, counted ? JSON.stringify(given) : ""]);
  }
});

test("the exact count reads text as the model does, and the data of inline images not at all", () => {
  const url = `data:image/png;base64,${DATA}`;
  const body = outgoing({
    images: 1,
    messages: [
      { role: "user", content: 'a "b"\n' },
      { role: "user", content: [{ type: "image_url", image_url: { url } }] },
    ],
  });
  expect(body.text()).toStartWith('a "b"\n');
  expect(body.text()).not.toContain(DATA);
  expect(body.size).toMatchObject({ messages: 2, tools: 0, images: 1 });
});

test("a data address in a schema is text like any other", () => {
  const schema = { url: `data:image/png;base64,${DATA}` };
  const body = outgoing({ tools: [{ type: "function", function: { name: "f", parameters: schema } }] });
  expect(body.size.bytes).toBeGreaterThan(DATA.length);
  expect(body.text()).toContain(DATA);
});
