// Providers whose answer is of another kind than was asked for, and Claude's own events on Messages, however odd: clients read them,
// nothing is charged on a guess, and nothing stays held (money.md §4, wire.md §8).
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eventsOfMessage, finalMessage, readMessage } from "../support/message-schema.ts";
import { question, type Script, type Scripted, startScripted } from "./scripted.ts";
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
/** Two words, by our own count. */
const COUNTED = { evidence: "delivered_tokens", usage: { completionTokens: 2 } };
const answered = (shape: Shape, script: Script, stream = true) => answerOf(house, { shape, script, stream });

describe("on Messages, where Claude's own events are passed on", () => {
  const ask = question("claude");

  test.each(Object.keys(FIGURES))("%s in its usage is shown to no client", async (name) => {
    const odd = written(FIGURES[name] ?? "");
    const { begin, text, close, end, usage } = VOICES.claude;
    house.says(streamOf("claude", begin(usage(odd, odd)), text(HELLO), close("stop", usage(odd, odd)), end));
    const streamed = await house.post("/v1/messages", ask);
    const { content, usage: told } = finalMessage(eventsOfMessage(streamed.text).map(({ data }) => data));
    expect(content).toMatchObject([{ type: "text", text: HELLO }]);
    expect(told.output_tokens).toBe(2);
    expect(streamed.record).toMatchObject({ state: "settled", ...COUNTED });
    house.says(wholeOf("claude", usage(odd, odd)));
    const whole = await house.post("/v1/messages", question("claude", { stream: false }));
    expect(readMessage(whole.text).usage.output_tokens).toBe(2);
    expect(whole.record).toMatchObject({ state: "settled", ...COUNTED });
  });

  test("blocks at places of 10^9 are counted anew, and end", async () => {
    const { begin, text, call, close, end, usage } = VOICES.claude;
    const far = 10 ** 9;
    const list = [
      text("Hello", far),
      call(far + 9, "call_1", "look", '{"a":1}'),
      close("stop", usage(20, 30)),
      end,
    ];
    house.says(streamOf("claude", begin(usage(20, 1)), ...list));
    const { text: said } = await house.post("/v1/messages", ask);
    const { content } = finalMessage(eventsOfMessage(said).map(({ data }) => data));
    expect(content.map(({ type }) => type)).toEqual(["text", "tool_use"]);
    expect(said).not.toContain(String(far));
  });
});

test("a message says what its prompt was as soon as its provider does, and all of it at its end", async () => {
  const beginning = async (shape: "claude" | "openai") => {
    const { begin, text, close, end, usage } = VOICES[shape];
    house.says(streamOf(shape, begin(usage(20, 1)), text(HELLO), close("stop", usage(20, 30)), end));
    const { text: said } = await house.post("/v1/messages", question(shape));
    const events = eventsOfMessage(said).map(({ data }) => data);
    const [first, second] = events;
    const tokens = first?.type === "message_start" ? first.message.usage.input_tokens : null;
    return { tokens, second: second?.type, final: finalMessage(events).usage };
  };
  const native = await beginning("claude");
  expect([native.tokens, native.final.input_tokens, native.final.output_tokens]).toEqual([20, 20, 30]);
  const translated = await beginning("openai");
  expect([translated.tokens, translated.second]).toEqual([0, "ping"]);
  expect([translated.final.input_tokens, translated.final.output_tokens]).toEqual([20, 30]);
});

describe("the other kind of answer", () => {
  test.each(SHAPES)("%s: an error body with 200 is no answer, streamed or not", async (shape) => {
    for (const stream of [true, false]) {
      const { status, record } = await answered(shape, JSON.stringify(VOICES[shape].error), stream);
      expect([status, record.state, record.charge]).toEqual([502, "released", 0n as never]);
    }
  });

  test.each(SHAPES)("%s: a whole body is no stream, and a stream no body", async (shape) => {
    const usage = VOICES[shape].usage(20, 30);
    for (const [script, stream] of [
      [wholeOf(shape, usage), true],
      [helloIn(shape, usage), false],
    ] as const) {
      const { status, record } = await answered(shape, script, stream);
      expect([status, record.state, record.charge]).toEqual([502, "released", 0n as never]);
    }
  });

  test.each(["openai", "responses", "claude", "gemini"] as const)(
    "%s: lines that end with CR or CRLF, a BOM in front, and no blank line at the end",
    async (shape) => {
      const script = helloIn(shape, VOICES[shape].usage(20, 30)) as string;
      for (const odd of [
        script.replaceAll("\n", "\r"),
        script.replaceAll("\n", "\r\n"),
        `\ufeff${script}`,
        script.trimEnd(),
        `\ufeff${script.replaceAll("\n", "\r").trimEnd()}`,
      ]) {
        const { text, record } = await answered(shape, odd);
        expect([text.includes(HELLO), text.includes('"error":{')]).toEqual([true, false]);
        expect(record).toMatchObject({ evidence: "provider_usage", usage: { completionTokens: 30 } });
      }
    },
  );
});
