// Providers of every shape that contradict themselves or report what cannot be: the caller gets a correct answer or a clear error,
// pays for what was provably delivered and never for a guess, and nothing stays held (money.md §4, wire.md §8).
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readEvents } from "../support/events.ts";
import { type Script, type Scripted, startScripted } from "./scripted.ts";
import {
  answerOf,
  FIGURES,
  helloIn,
  SHAPES,
  type Shape,
  streamOf,
  VOICES,
  wholeOf,
  written,
} from "./voices.ts";

let house: Scripted;
beforeAll(async () => {
  house = await startScripted();
});
afterAll(() => house.stop());

const HELLO = "Hello there";
/** The model's prompt and its two words, by our own count. */
const COUNTED = { evidence: "delivered_tokens", usage: { completionTokens: 2 } };
const MINIMUM = 100_000n;
/** What every question here asks for. */
const MAXIMUM = 200;

const answered = (shape: Shape, script: Script, stream = true) => answerOf(house, { shape, script, stream });

/** The text of an answer, whatever its surface. */
function wordsIn(text: string): string {
  const deltas = [...text.matchAll(/"(?:content|delta)":"((?:[^"\\]|\\.)*)"/g)].map(([, said]) => said);
  return deltas.join("");
}

const rows = <T extends string>(list: readonly T[]) =>
  SHAPES.flatMap((shape) => list.map((one) => [shape, one] as const));

describe("figures that are none", () => {
  test.each(rows(Object.keys(FIGURES)))(
    "%s: %s is not believed: what was delivered is counted",
    async (shape, name) => {
      const odd = written(FIGURES[name] ?? "");
      const usage = VOICES[shape].usage(odd, odd, odd);
      for (const stream of [true, false]) {
        const script = stream ? helloIn(shape, usage) : wholeOf(shape, usage);
        const { status, text, record } = await answered(shape, script, stream);
        expect([status, text.includes('"error":{')]).toEqual([200, false]);
        expect(record).toMatchObject({ state: "settled", ...COUNTED, charge: MINIMUM });
      }
    },
  );

  test.each(SHAPES)("%s: NaN is no JSON: a broken answer, paid as far as it was delivered", async (shape) => {
    const usage = VOICES[shape].usage(written("NaN"), 3);
    const streamed = await answered(shape, helloIn(shape, usage));
    expect([streamed.status, streamed.text.includes("Hello there")]).toEqual([200, true]);
    expect(streamed.text).toMatch(/provider_error/);
    expect(streamed.record).toMatchObject({ state: "settled", ...COUNTED });
    const whole = await answered(shape, wholeOf(shape, usage), false);
    expect([whole.status, whole.record.state, whole.record.charge]).toEqual([502, "released", 0n as never]);
  });

  test.each(SHAPES)("%s: figures beyond every bound cost no more than was held", async (shape) => {
    const usage = VOICES[shape].usage(10 ** 15, 10 ** 15);
    for (const stream of [true, false]) {
      const script = stream ? helloIn(shape, usage) : wholeOf(shape, usage);
      const { status, record } = await answered(shape, script, stream);
      expect([status, record.state]).toEqual([200, "settled"]);
      expect(record.charge).toBeLessThanOrEqual(record.hold);
      expect(record.attempts[0]?.doubts).toContain("usage_clamped");
    }
  });
});

describe("figures that contradict one another", () => {
  test.each(SHAPES.filter((shape) => shape !== "responses"))(
    "%s: usage that is reported again replaces what was reported before, in either direction",
    async (shape) => {
      const { begin, text, told, close, end, usage } = VOICES[shape];
      for (const [first, last] of [
        [150, 30],
        [30, 150],
      ] as const) {
        const script = streamOf(
          shape,
          begin(),
          told(usage(20, first)),
          text(HELLO),
          told(usage(20, last)),
          close("stop", null),
          end,
        );
        const { record } = await answered(shape, script);
        expect(record).toMatchObject({ evidence: "provider_usage", usage: { completionTokens: last } });
      }
    },
  );

  test.each(SHAPES)("%s: usage that covers less than was delivered is not believed", async (shape) => {
    const words = "one two three four five six seven eight nine ten ".repeat(40);
    const { begin, text, close, end, usage } = VOICES[shape];
    const script = streamOf(shape, begin(), text(words), close("stop", usage(20, 0), words), end);
    const { record } = await answered(shape, script);
    expect(record).toMatchObject({ evidence: "delivered_tokens", attempts: [{ doubts: expect.anything() }] });
    expect(record.usage?.completionTokens).toBeGreaterThan(150);
  });

  test.each(["openai", "responses", "gemini", "bedrock"] as const)(
    "%s: of a total that is not the sum, the larger completion counts",
    async (shape) => {
      const { usage } = VOICES[shape];
      for (const [total, completion] of [
        [30, 50],
        [120, 100],
      ] as const) {
        const { record } = await answered(shape, helloIn(shape, usage(20, 50, total)));
        expect(record).toMatchObject({ evidence: "provider_usage", usage: { completionTokens: completion } });
      }
    },
  );

  test.each(SHAPES)("%s: usage behind the end of the stream is not read", async (shape) => {
    const { begin, text, close, end, told, usage } = VOICES[shape];
    const late = told(usage(20, 190));
    const last = shape === "responses" ? close("stop", usage(20, 190)) : late;
    const script = streamOf(shape, begin(), text(HELLO), close("stop", usage(20, 30)), end, last);
    const { text: said, record } = await answered(shape, script);
    expect(said).not.toContain('"error":{');
    expect(record).toMatchObject({ evidence: "provider_usage", usage: { completionTokens: 30 } });
  });

  test.each(SHAPES)(
    "%s: usage in front of a break counts only as far as it covers what was delivered",
    async (shape) => {
      const { begin, text, told, usage } = VOICES[shape];
      const words = "one two three four five six seven eight nine ten ".repeat(10);
      const { text: said, record } = await answered(
        shape,
        streamOf(shape, begin(usage(20, 1)), told(usage(20, 1)), text(words)),
      );
      expect(said).toMatch(/provider_error/);
      expect(record).toMatchObject({ state: "settled", evidence: "delivered_tokens" });
      expect(record.usage?.completionTokens).toBeGreaterThan(90);
      expect(record.usage?.completionTokens).toBeLessThan(130);
    },
  );
});

describe("ends", () => {
  const ENDED: Record<string, RegExp> = {
    content_filter: /content_filter/,
    length: /"finish_reason":"length"|max_output_tokens/,
  };

  test.each(
    SHAPES.flatMap((shape) =>
      (["content_filter", "length"] as const).map((reason) => [shape, reason] as const),
    ),
  )("%s: of two finishes the one that tells more counts, in either order: %s", async (shape, reason) => {
    const { begin, text, close, end, usage } = VOICES[shape];
    const told = usage(20, 30);
    for (const [first, second] of [
      [reason, "stop"],
      ["stop", reason],
    ] as const) {
      // The events of Bedrock and Responses end with a finish and its usage: nothing is read after them.
      const once = shape === "responses" ? [] : close(first, null);
      const script = streamOf(
        shape,
        begin(),
        text(HELLO),
        once,
        close(shape === "responses" ? reason : second, told),
        end,
      );
      const { text: said, record } = await answered(shape, script);
      expect(said).toMatch(ENDED[reason] ?? /^$/);
      expect(record).toMatchObject({
        state: "settled",
        evidence: "provider_usage",
        usage: { completionTokens: 30 },
      });
    }
  });

  test.each(SHAPES.filter((shape) => shape !== "responses"))(
    "%s: text after a filter's finish is delivered and paid, and the filter is reported",
    async (shape) => {
      const { begin, text, close, end, usage } = VOICES[shape];
      const script = streamOf(
        shape,
        begin(),
        text("Hello "),
        close("content_filter", null),
        text("there", 1),
        close("stop", usage(20, 30)),
        end,
      );
      const { text: said, record } = await answered(shape, script);
      expect([wordsIn(said), said.includes('"finish_reason":"content_filter"')]).toEqual([HELLO, true]);
      expect(record).toMatchObject({ evidence: "provider_usage", usage: { completionTokens: 30 } });
    },
  );

  test.each(["openai", "responses", "claude", "gemini"] as const)(
    "%s: a terminator that comes again, and what follows it, is not read",
    async (shape) => {
      const { begin, text, close, end, usage } = VOICES[shape];
      const script = streamOf(
        shape,
        begin(),
        text(HELLO),
        close("stop", usage(20, 30)),
        end,
        ["[DONE]", "[DONE]"],
        text("never", 1),
        ["[DONE]"],
      );
      const { text: said, record } = await answered(shape, script);
      expect([said.includes("never"), said.includes('"error":{')]).toEqual([false, false]);
      expect(said.match(/\[DONE\]|event: response\.completed/g)).toHaveLength(1);
      expect(record).toMatchObject({ evidence: "provider_usage", usage: { completionTokens: 30 } });
    },
  );
});

describe("more than was asked for", () => {
  const WORDS = "one two three four five six seven eight nine ten ".repeat(100);

  test.each(rows(["what it delivered", "the maximum", "nothing"]))(
    "%s: an answer beyond its maximum is cut and charged for no more, though it reports %s",
    async (shape, reported) => {
      const { begin, text, close, end, usage } = VOICES[shape];
      const told =
        reported === "nothing" ? null : usage(20, reported === "the maximum" ? MAXIMUM : 5 * MAXIMUM);
      const pieces = WORDS.split(/(?<= )/).flatMap((word) => text(word));
      for (const stream of [true, false]) {
        const script = stream
          ? streamOf(shape, begin(), pieces, close("stop", told, WORDS), end)
          : wholeOf(shape, told, WORDS);
        const { status, text: said, record } = await answered(shape, script, stream);
        expect([status, record.state, record.finishReason]).toEqual([200, "settled", "length"]);
        expect(record.usage?.completionTokens).toBe(MAXIMUM);
        expect(record.charge).toBeLessThanOrEqual(record.hold);
        expect(record.attempts[0]?.doubts).toContain("output_above_maximum");
        expect(said).toMatch(/"length"|max_output_tokens/);
        // Of a hundred; a stream is cut where a read ends, or after 256 parts. Responses say their text four times.
        const times = shape === "responses" && stream ? 4 : 1;
        expect(said.match(/seven/g)?.length ?? 0).toBeLessThan(60 * times);
      }
    },
  );
});

describe("indexes and ids", () => {
  const FAR = 10 ** 9;
  /** The calls of a chat completion's stream, as a client puts them together. */
  function callsIn(text: string): { id: string; arguments: string }[] {
    const calls: { id: string; arguments: string }[] = [];
    for (const { choices } of readEvents(text).chunks)
      for (const { index, id, function: called } of choices[0]?.delta.tool_calls ?? []) {
        const call = (calls[index] ??= { id: id ?? "", arguments: "" });
        call.arguments += called.arguments;
      }
    return calls;
  }

  test.each(SHAPES)("%s: places of 10^9 are places like any other, and cost no memory", async (shape) => {
    const { begin, text, call, close, end, usage } = VOICES[shape];
    const before = process.memoryUsage().rss;
    const script = streamOf(
      shape,
      begin(),
      text("Hello ", FAR),
      text("there", FAR + 7),
      call(2 * FAR, "call_1", "look", '{"a":', "1}"),
      close("stop", usage(20, 30)),
      end,
    );
    const { text: said, record } = await answered(shape, script);
    expect(said).not.toContain('"error":{');
    expect(said).toContain("look");
    expect(said).not.toContain(String(FAR));
    expect(record).toMatchObject({ evidence: "provider_usage", usage: { completionTokens: 30 } });
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 * 1024);
  });

  test.each(["openai", "gemini"] as const)(
    "%s: a choice of index 10^9 is none: a broken answer, and no charge",
    async (shape) => {
      const far = { ...(VOICES[shape].text(HELLO)[0] as object) } as Record<string, object[]>;
      const [list] = Object.keys(far);
      const script = streamOf(
        shape,
        [{ [list ?? ""]: [{ ...far[list ?? ""]?.[0], index: FAR }] }],
        VOICES[shape].end,
      );
      const { status, record } = await answered(shape, script);
      expect([status, record.state, record.charge]).toEqual([502, "released", 0n as never]);
    },
  );

  test("a call whose id changes while it grows stays one call, under its first id", async () => {
    const { begin, close, end, usage } = VOICES.openai;
    const piece = (id: string, text: string) => ({
      choices: [{ index: 0, delta: { tool_calls: [{ index: 0, id, function: { arguments: text } }] } }],
    });
    const start = VOICES.openai.call(0, "call_1", "look");
    const script = streamOf(
      "openai",
      begin(),
      start,
      [piece("call_2", '{"a":'), piece("call_3", "1}")],
      close("stop", usage(20, 30)),
      end,
    );
    const { text } = await answered("openai", script);
    expect(callsIn(text)).toEqual([{ id: "call_1", arguments: '{"a":1}' }]);
  });

  test.each(["claude", "bedrock"] as const)(
    "%s: a call that begins where one is open ends that one; the same call again is no other",
    async (shape) => {
      const { begin, call, close, end, usage } = VOICES[shape];
      const open = (id: string, ...args: string[]) => call(0, id, "look", ...args).slice(0, 1 + args.length);
      const other = streamOf(
        shape,
        begin(),
        open("a_1"),
        call(0, "a_2", "look", '{"a":1}'),
        close("stop", usage(20, 30)),
        end,
      );
      const { text, record } = await answered(shape, other);
      expect(callsIn(text)).toEqual([
        { id: "a_1", arguments: "{}" },
        { id: "a_2", arguments: '{"a":1}' },
      ]);
      expect(record).toMatchObject({ state: "settled", usage: { completionTokens: 30 } });
      const same = streamOf(
        shape,
        begin(),
        open("a_1"),
        call(0, "a_1", "look", '{"a":1}'),
        close("stop", usage(20, 30)),
        end,
      );
      const again = await answered(shape, same);
      expect(callsIn(again.text)).toEqual([{ id: "a_1", arguments: '{"a":1}' }]);
    },
  );
});
