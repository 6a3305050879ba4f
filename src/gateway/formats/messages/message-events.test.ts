// Whatever a provider of another shape sends, in whatever order, clients read one message: blocks one after the other, indexes
// without a gap, the same text and calls, and the figures at its end.
import { expect, test } from "bun:test";
import fc from "fast-check";
import { Refusal } from "../../../domain/refusals.ts";
import { ClaudeReader } from "../../../providers/anthropic/reader.ts";
import { Failure } from "../../../providers/failure.ts";
import type { FinishReason } from "../../../providers/provider.ts";
import { eventsOfMessage, finalMessage } from "../../../../test/support/message-schema.ts";
import type { ShownPart } from "../format.ts";
import { stateIn, UNSIGNED } from "../../../domain/carried-state.ts";
import { MessageEvents } from "./message-events.ts";

const HEAD = { requestId: `req_${"0".repeat(32)}`, created: 1, model: "m-1" };
const GATEWAY = `{"request_id":"${HEAD.requestId}"}`;
const FIGURES = {
  usage: {
    promptTokens: 10,
    completionTokens: 5,
    cachedTokens: 2,
    reasoningTokens: null,
    cacheWriteTokens: 3,
  },
  gateway: GATEWAY,
};

interface Group {
  calls: { name: string; args: string; pieces: string[]; state: Record<string, unknown> | null }[];
  /** Whose piece comes next; the rest follows in order. */
  order: number[];
}
type Episode = { word: "text" | "reasoning" | "refusal"; text: string } | Group;

const words = fc.record({
  word: fc.constantFrom("text" as const, "reasoning" as const, "refusal" as const),
  text: fc.string({ minLength: 1, unit: "grapheme" }),
});
const call = fc
  .record({
    name: fc.constantFrom("weather", "clock"),
    input: fc.dictionary(fc.string(), fc.oneof(fc.string({ unit: "grapheme" }), fc.integer(), fc.boolean())),
    cuts: fc.array(fc.nat(40), { maxLength: 4 }),
    state: fc.option(fc.record({ google: fc.record({ thought_signature: fc.string() }) })),
  })
  .map(({ name, input, cuts, state }) => {
    const args = JSON.stringify(input);
    const places = [0, ...cuts.filter((at) => at < args.length).toSorted((a, b) => a - b), args.length];
    const pieces = places.slice(1).map((end, at) => args.slice(places[at], end));
    return { name, args, pieces, state };
  });
const group = fc.record({
  calls: fc.array(call, { minLength: 1, maxLength: 4 }),
  order: fc.array(fc.nat(3), { maxLength: 12 }),
});
const episodes = fc.array(fc.oneof(words, group), { maxLength: 8 });

/** A group's parts: all calls begin in the given order, and their pieces are mixed. */
function partsOf(said: readonly Episode[]): ShownPart[] {
  let index = 0;
  return said.flatMap((episode): ShownPart[] => {
    if ("word" in episode) return [{ type: episode.word, choice: 0, text: episode.text }];
    const left = episode.calls.map((one) => ({
      ...one,
      index: index++,
      pieces: [...one.pieces],
      begun: false,
    }));
    const parts: ShownPart[] = [];
    let begun = 0;
    const next = (at: number): void => {
      while (begun <= at) {
        const { index: own, name, state } = left[begun++] ?? { index: 0, name: "", state: null };
        parts.push({
          type: "tool_call",
          choice: 0,
          index: own,
          id: `c${own}`,
          name,
          ...(state && { extraContent: state }),
        });
      }
      const text = left[at]?.pieces.shift();
      if (text !== undefined)
        parts.push({ type: "tool_arguments", choice: 0, index: left[at]?.index ?? 0, text });
    };
    for (const at of episode.order) if (at < left.length) next(at);
    for (const at of left.keys()) {
      next(at);
      while ((left[at]?.pieces.length ?? 0) > 0) next(at);
    }
    return parts;
  });
}

function printed(parts: readonly ShownPart[], reason: FinishReason, numbered = true): string {
  const events = new MessageEvents(HEAD, numbered);
  return (
    events.begin(GATEWAY) + parts.map((part) => events.part(part)).join("") + events.end(0, reason, FIGURES)
  );
}

test("any sequence of parts is one well-formed message with the same words and calls", () => {
  fc.assert(
    fc.property(episodes, fc.constantFrom<FinishReason>("stop", "length", "tool_calls"), (said, reason) => {
      const events = eventsOfMessage(printed(partsOf(said), reason));
      expect(events.map(({ id }) => id)).toEqual(events.map((_, at) => at + 1));
      const { content, usage } = finalMessage(events.map(({ data }) => data));
      const spoken = (type: string) =>
        said
          .flatMap((one) =>
            "word" in one && (one.word === "reasoning") === (type === "thinking") ? [one.text] : [],
          )
          .join("");
      expect(content.map((one) => (one.type === "text" ? one.text : "")).join("")).toBe(spoken("text"));
      expect(content.map((one) => (one.type === "thinking" ? one.thinking : "")).join("")).toBe(
        spoken("thinking"),
      );
      for (const one of content) if (one.type === "thinking") expect(one.signature).toBe(UNSIGNED);
      const calls = said.flatMap((one) => ("calls" in one ? one.calls : []));
      const made = content.flatMap((one) =>
        one.type === "tool_use" ? [[one.name, JSON.stringify(one.input)]] : [],
      );
      expect(made).toEqual(calls.map(({ name, args }) => [name, args]));
      const states = content.flatMap((one) => (one.type === "redacted_thinking" ? [stateIn(one.data)] : []));
      expect(JSON.stringify(states)).toBe(
        JSON.stringify(calls.flatMap(({ state }) => (state === null ? [] : [state]))),
      );
      expect(usage).toMatchObject({
        input_tokens: 5,
        cache_read_input_tokens: 2,
        cache_creation_input_tokens: 3,
        output_tokens: 5,
      });
    }),
    { numRuns: 300 },
  );
});

test("an error at any place closes what is open, and nothing follows it", () => {
  fc.assert(
    fc.property(episodes, fc.nat(30), (said, at) => {
      const events = new MessageEvents(HEAD, false);
      const parts = partsOf(said).slice(0, at);
      const begun = events.begin(GATEWAY) + parts.map((part) => events.part(part)).join("");
      const text = begun + events.error(new Refusal("provider_error", "It broke."), GATEWAY);
      const read = eventsOfMessage(text).map(({ data }) => data);
      expect(read.at(-1)?.type).toBe("error");
      expect(read[0]?.type).toBe(parts.length === 0 ? "error" : "message_start");
      const count = (type: string) => read.filter((one) => one.type === type).length;
      expect(count("content_block_stop")).toBe(count("content_block_start"));
    }),
    { numRuns: 100 },
  );
});

test("a call that an upstream of this shape tells whole keeps its numbers, at the beginning and under another index", () => {
  const events = new MessageEvents(HEAD, false);
  const call = '{"type":"tool_use","id":"a","name":"f","input":{"id":175928847299117063,"x":1e400}}';
  const told = (event: string, rest: string): ShownPart => {
    const data = `{"type":"${event}",${rest}}`;
    const reader = new ClaudeReader();
    reader.event(data, []);
    return { type: "native", choice: 0, event, data, told: reader.lastEvent };
  };
  const said =
    events.begin(GATEWAY) +
    events.part(told("message_start", `"message":{"content":[${call}]}`)) +
    events.part(told("content_block_start", `"index":7,"content_block":${call}`));
  expect(said.split(call)).toHaveLength(3);
});

test("a call that goes on behind words has no place any more: that is said, not swallowed", () => {
  const events = new MessageEvents(HEAD, false);
  events.part({ type: "tool_call", choice: 0, index: 0, id: "a", name: "weather" });
  events.part({ type: "tool_arguments", choice: 0, index: 0, text: "{" });
  events.part({ type: "text", choice: 0, text: "So." });
  expect(() => events.part({ type: "tool_arguments", choice: 0, index: 0, text: "}" })).toThrow(Failure);
});

test("pages stand in the text that speaks from them", () => {
  const page = { start_index: 0, end_index: 5, url: "https://example.com", title: "E" };
  const parts: ShownPart[] = [
    { type: "text", choice: 0, text: "Hello there" },
    { type: "annotations", choice: 0, annotations: [{ type: "url_citation", url_citation: page }] },
  ];
  const { content } = finalMessage(eventsOfMessage(printed(parts, "stop", false)).map(({ data }) => data));
  expect(content).toEqual([
    {
      type: "text",
      text: "Hello there",
      citations: [
        {
          type: "web_search_result_location",
          cited_text: "Hello",
          url: page.url,
          title: "E",
          encrypted_index: "",
        },
      ],
    },
  ]);
});
