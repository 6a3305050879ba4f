// What a reader keeps of an answer, beside what it hands over, is bounded whatever the upstream sends: here events of
// megabytes, each as long as an event may be, with a word between them, so that no bound of a stream is reached.
import { heapStats } from "bun:jsc";
import { expect, test } from "bun:test";
import { NativeEvents } from "../gateway/formats/messages/native-events.ts";
import { NativeOutput } from "../gateway/formats/responses/native-output.ts";
import { ClaudeReader } from "./anthropic/reader.ts";
import { ConverseReader } from "./bedrock/answer-reader.ts";
import { GeminiReader } from "./google/answer-reader.ts";
import { ChunkReader } from "./openai/parts-of-chunk.ts";
import type { Part } from "./provider.ts";

const MEGABYTES = 1024 * 1024;
const EVENTS = 60;
/** Of 240 that are sent; a whole answer may have as many as 64. */
const GROWTH_BYTES_MAX = 80 * MEGABYTES;

/** A different text each time, so that no reader can share it with the last one. */
const long = (n: number): string => `${n}`.padEnd(4 * MEGABYTES, `${n % 10}`);

/** Returns by how much memory grew while the reader was fed, until it gave up. */
function grown(reader: object, feed: (n: number) => void): number {
  const size = (): number => {
    Bun.gc(true);
    return heapStats().heapSize;
  };
  const before = size();
  let gaveUp: unknown = null;
  try {
    for (let n = 0; n < EVENTS; n += 1) feed(n);
  } catch (error) {
    gaveUp = error; // also a bound
  }
  const after = size();
  expect(reader).toBeObject(); // keeps the reader alive until here
  if (gaveUp instanceof Error)
    expect(gaveUp.message).toMatch(/more|larger|too many|without end|does not end|did not name/);
  return after - before;
}

const claude = (events: (n: number) => object[]) => {
  const reader = new ClaudeReader();
  return grown(reader, (n) => {
    for (const event of events(n)) reader.event(JSON.stringify(event), []);
  });
};
const started = (n: number, content_block: object): object => ({
  type: "content_block_start",
  index: n,
  content_block,
});
const stopped = (n: number): object => ({ type: "content_block_stop", index: n });
const openai = (delta: (n: number) => object) => {
  const reader = new ChunkReader({ choices: 1, logprobs: false, family: "x" });
  return grown(reader, (n) => reader.event(JSON.stringify({ choices: [{ index: 0, delta: delta(n) }] }), []));
};
const openrouter = (delta: (n: number) => object) => {
  const details = { issuer: "x", thinks: true };
  const reader = new ChunkReader({ choices: 1, logprobs: false, family: "x", details });
  return grown(reader, (n) => reader.event(JSON.stringify({ choices: [{ index: 0, delta: delta(n) }] }), []));
};
const bedrock = (events: (n: number) => [string, object][]) => {
  const reader = new ConverseReader("claude");
  return grown(reader, (n) => {
    for (const [type, payload] of events(n))
      reader.event({ kind: "event", type, payload: JSON.stringify(payload) }, []);
  });
};

const ROWS: Record<string, () => number> = {
  "details of thoughts": () =>
    openrouter((n) => ({ reasoning_details: [{ type: "reasoning.encrypted", index: n, data: long(n) }] })),
  "details of thoughts that go on": () =>
    openrouter((n) => ({ reasoning_details: [{ type: "reasoning.text", index: 0, text: long(n) }] })),
  "calls that are handed over at the end": () =>
    openrouter((n) => ({
      tool_calls: [{ index: 0, id: "c", function: { name: "f", arguments: long(n) } }],
    })),
  "members of usage, under ever new names": () =>
    claude((n) => [{ type: "message_delta", delta: {}, usage: { output_tokens: n, [`m${n}`]: long(n) } }]),
  "sealed thoughts": () =>
    claude((n) => [started(n, { type: "redacted_thinking", data: long(n) }), stopped(n)]),
  "sealed thoughts that do not end": () =>
    claude((n) => [started(n, { type: "redacted_thinking", data: long(n) })]),
  "data of other blocks": () => claude((n) => [started(n, { type: "text", text: "", data: long(n) })]),
  "kinds of blocks": () => claude((n) => [started(n, { type: long(n) })]),
  signatures: () => claude((n) => [started(n, { type: "thinking", thinking: "", signature: long(n) })]),
  "arguments that calls begin with": () =>
    claude((n) => [started(n, { type: "tool_use", id: `t${n}`, name: "f", input: { a: long(n) } })]),
  "cited pages": () =>
    claude((n) => [
      started(n, {
        type: "text",
        text: "",
        citations: [{ url: `https://a/${long(n)}`, title: { a: long(n) } }],
      }),
    ]),
  "arguments of a call without a name": () =>
    openai((n) => ({ tool_calls: [{ index: n, id: `c${n}`, function: { arguments: long(n) } }] })),
  "ids of calls": () => openai((n) => ({ tool_calls: [{ index: n, id: long(n), function: { name: "f" } }] })),
  "state of calls": () =>
    openai((n) => ({ tool_calls: [{ index: n, id: `c${n}`, extra_content: { a: long(n) } }] })),
  "sealed thoughts of Converse": () =>
    bedrock((n) => [
      [
        "contentBlockDelta",
        { contentBlockIndex: n, delta: { reasoningContent: { redactedContent: long(n) } } },
      ],
      ["contentBlockStop", { contentBlockIndex: n }],
    ]),
  "places that are none": () =>
    bedrock((n) => [
      [
        "contentBlockStart",
        { contentBlockIndex: long(n), start: { toolUse: { toolUseId: "t", name: "f" } } },
      ],
    ]),
  "items of a Responses stream": () => {
    const output = new NativeOutput("req_1");
    return grown(output, (n) => {
      const told = { output_index: n, item: { type: "reasoning", encrypted_content: long(n) } };
      output.again({ event: "response.output_item.added", data: JSON.stringify(told), told });
    });
  },
  "ends of a message": () => {
    const events = new NativeEvents("req_1", () => "");
    return grown(events, (n) => {
      const told = { delta: { [`m${n}`]: long(n) } };
      events.shown({ event: "message_delta", data: JSON.stringify(told), told });
    });
  },
};

test.each(Object.entries(ROWS))("%s", (_, growth) => {
  expect(growth()).toBeLessThan(GROWTH_BYTES_MAX);
});

test("what is given back with calls is bounded over the answer", () => {
  const given = (parts: Part[]): number =>
    parts.reduce(
      (sum, part) => sum + JSON.stringify("extraContent" in part ? part.extraContent : "").length,
      0,
    );
  const sealed: Part[] = [];
  const claudes = new ClaudeReader();
  const signed: Part[] = [];
  const geminis = new GeminiReader({ choices: 1, topLogprobs: null, issuer: () => "i" });
  for (let n = 0; n < EVENTS; n += 1) {
    const data = long(n).slice(0, 0.9 * MEGABYTES);
    for (const event of [
      started(0, { type: "redacted_thinking", data }),
      stopped(0),
      started(0, { type: "tool_use", id: `t${n}`, name: "f" }),
      stopped(0),
    ])
      claudes.event(JSON.stringify(event), sealed);
    const parts = [{ functionCall: { name: "f", args: {} }, thoughtSignature: data }];
    geminis.event(JSON.stringify({ candidates: [{ content: { parts } }] }), signed);
  }
  for (const parts of [sealed, signed]) {
    expect(given(parts)).toBeLessThan(10 * MEGABYTES);
    expect(parts.filter(({ type }) => type === "tool_call")).toHaveLength(EVENTS);
  }
});
