// What is sent is what is priced (money.md §6), for every shape and whatever a caller asks.
import { expect, test } from "bun:test";
import fc from "fast-check";
import { type CacheMark, type ChatRequest, countAttachments, type Message } from "../domain/chat-request.ts";
import type { OutgoingBody } from "./provider.ts";
import { printedText } from "./printed-text.fixtures.ts";

/** The data of an inline image, or of a file. */
const DATA = "A".repeat(1000);
const INLINE = `data:image/png;base64,${DATA}`;

const word = fc.string({
  unit: fc.constantFrom("a", "é", "漢", "😀", "\n", '"', "\\", "\u0001", "\ud800"),
  maxLength: 12,
});
const mark = fc.constantFrom<CacheMark[]>({ type: "ephemeral" }, { type: "ephemeral", ttl: "1h" });
const json = fc.jsonValue({ maxDepth: 3 }).map((value) => ({ any: value }));
export const ANY = { word, json };

interface Generated {
  /** What comes back with a call. */
  extra: fc.Arbitrary<Record<string, unknown>>;
  /** True if the shape accepts an image's address. */
  remoteImages: boolean;
  /** The shape rejects a request with more files; absent = no bound. */
  filesMax?: number;
}

function messagesOf({ extra, remoteImages }: Generated): fc.Arbitrary<Message[]> {
  const url = fc.constantFrom(INLINE, ...(remoteImages ? ["https://pictures.test/漢.png"] : []));
  const file = fc.record({
    filename: word.filter((name) => name !== ""),
    file_data: fc.constant(`data:application/pdf;base64,${DATA}`),
  });
  const part = fc.oneof(
    fc.record({ type: fc.constant("file" as const), file }),
    fc.record(
      { type: fc.constant("text" as const), text: word, cache_control: mark },
      { requiredKeys: ["type", "text"] },
    ),
    fc.record({ type: fc.constant("image_url" as const), image_url: fc.record({ url }) }),
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
    extra_content: extra,
  });
  const message: fc.Arbitrary<Message> = fc.oneof(
    fc.record({
      role: fc.constantFrom("user" as const, "system" as const, "developer" as const),
      content: fc.oneof(word, fc.array(part, { minLength: 1, maxLength: 4 })),
      name: word,
    }),
    fc.record({
      role: fc.constant("assistant" as const),
      content: fc.option(word),
      tool_calls: fc.array(call, { minLength: 1, maxLength: 3 }),
      reasoning_content: word,
      refusal: word,
    }),
    fc.record({ role: fc.constant("tool" as const), content: word, tool_call_id: word }),
  );
  return fc.array(message, { minLength: 1, maxLength: 6 });
}

const tool = fc.record(
  {
    type: fc.constant("function" as const),
    function: fc.record({ name: word, description: word, parameters: json }),
    cache_control: mark,
  },
  { requiredKeys: ["type", "function"] },
);

/** Generates requests with everything that a body can hold; identifiers and settings are the call's. */
export const anyRequest = (generated: Generated): fc.Arbitrary<Partial<ChatRequest>> =>
  fc
    .record({
      messages: messagesOf(generated),
      tools: fc.array(tool, { maxLength: 3 }),
      responseFormat: fc.option(
        fc.record({
          type: fc.constant("json_schema" as const),
          json_schema: fc.record({ name: word, schema: json }),
        }),
      ),
      // some shapes reject a blank one
      stop: fc.array(
        word.filter((text) => text.trim() !== ""),
        { maxLength: 4 },
      ),
      stream: fc.boolean(),
      applied: fc.record(
        { logit_bias: fc.dictionary(fc.stringMatching(/^\d{1,9}$/), fc.integer(), { minKeys: 1 }) },
        { requiredKeys: [] },
      ),
      forwarded: fc.constant({
        seed: Number.MAX_SAFE_INTEGER,
        top_p: 0.123456789,
        verbosity: "high" as const,
      }),
      identifiers: fc.record({ user: word }),
    })
    .map((request) => ({ ...request, ...countAttachments(request.messages) }))
    .filter(({ files }) => files <= (generated.filesMax ?? Number.POSITIVE_INFINITY));

type Body = Record<string, unknown>;

/** What is known of a shape's bodies. */
interface Shape<How> extends Generated {
  how: fc.Arbitrary<How>;
  prepare(request: Partial<ChatRequest>, how: How): OutgoingBody;
  /** The part of an inline image or a file that weighs nothing. */
  weightless: "data" | "address";
  /** Bytes by which the bound may exceed what is sent. */
  slack: number;
  ceilingOf(body: Body): unknown;
  /** Returns what a model reads of a body. */
  read(body: Body): unknown;
  /** The shape's own words in a body. */
  frame?: string;
}

const CEILINGS = [1, 5, 150, 700, 10_000, 50_000, Number.MAX_SAFE_INTEGER];

/** Defines the tests of one shape. */
export function isPricedAsSent<How>(shape: Shape<How>): void {
  const requests = anyRequest(shape);
  const weightless = shape.weightless === "data" ? /A{1000}/g : /data:[a-z/]+;base64,A{1000}/g;
  const frame = new Set((shape.frame ?? "").split(" "));

  test("nothing that is forwarded escapes the bound: it is the bytes that go upstream, less inline images and files", () => {
    fc.assert(
      fc.property(requests, shape.how, (request, how) => {
        const body = shape.prepare(request, how);
        for (const ceiling of CEILINGS) {
          const text = printedText(body, ceiling);
          const sent = Buffer.byteLength(text.replaceAll(weightless, ""));
          expect(body.size.bytes).toBeGreaterThanOrEqual(sent);
          expect(body.size.bytes).toBeLessThan(sent + shape.slack);
        }
        expect(Buffer.byteLength(body.text())).toBeLessThanOrEqual(body.size.bytes);
      }),
    );
  });

  test("every text that is forwarded is in the text of the exact count, however it is nested or escaped", () => {
    fc.assert(
      fc.property(requests, shape.how, (request, how) => {
        const body = shape.prepare(request, how);
        const text = body.text();
        for (const leaf of leavesOf(shape.read(JSON.parse(printedText(body, 64)) as Body)))
          if (!leaf.endsWith(DATA) && !frame.has(leaf)) expect(text).toInclude(leaf);
      }),
    );
  });

  test("a longer conversation makes the text of the exact count longer at its end, and changes nothing in front", () => {
    const said = (role: "user" | "assistant", content: string): Message => ({ role, content });
    const messages = [said("user", "first"), said("assistant", "second"), said("user", "third")];
    const all = {
      tools: [{ type: "function" as const, function: { name: "look", parameters: { type: "object" } } }],
      stop: ["end"],
    };
    fc.assert(
      fc.property(shape.how, (how) => {
        const short = shape.prepare({ ...all, messages: messages.slice(0, 1) }, how).text();
        const long = shape.prepare({ ...all, messages }, how).text();
        expect([long.startsWith(short), short.includes("look")]).toEqual([true, true]);
      }),
    );
  });

  test("a printed body is JSON with its ceiling in it, and the same once it was sent", () => {
    fc.assert(
      fc.property(requests, shape.how, fc.integer({ min: 1 }), (request, how, ceiling) => {
        const body = shape.prepare(request, how);
        const printed = printedText(body, ceiling);
        expect(shape.ceilingOf(JSON.parse(printed) as Body)).toBe(ceiling);
        body.sent();
        expect(printedText(body, ceiling)).toBe(printed);
      }),
    );
  });
}

/** Returns the texts of a value, and the names beside them. */
function leavesOf(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(leavesOf);
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [name, ...leavesOf(inner)]);
}
