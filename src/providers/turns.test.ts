import { expect, test } from "bun:test";
import type { Message, ToolCall } from "../domain/chat-request.ts";
import { argumentsOf, inOrder, resultsOf, turnsOf } from "./turns.ts";

const call = (id: string, text = "{}"): ToolCall => ({
  id,
  type: "function",
  function: { name: "weather", arguments: text },
});
const calling = (...calls: ToolCall[]): Message => ({ role: "assistant", content: null, tool_calls: calls });
const result = (tool_call_id: string, content: string): Message => ({ role: "tool", content, tool_call_id });

interface Word {
  text: string;
}

const wordsOf = ({ content }: Message): string => (typeof content === "string" ? content : "");

/** Turns as words: the first letter of a block says what it is. */
const inWords = (messages: readonly Message[]): { turns: string[]; lost: boolean } => {
  const { turns, lost } = turnsOf<Word>(messages, {
    heard: (message) => [{ text: wordsOf(message) }],
    said: (message, calls) => [
      ...(message.content === null ? [] : [{ text: wordsOf(message) }]),
      ...calls.map(({ id }) => ({ text: `?${id}` })),
    ],
    result: ({ id, results }) => ({
      text: `=${id}:${results.map(wordsOf).join("+")}`,
    }),
    text: (text) => ({ text }),
    role: ({ text }) =>
      text.startsWith("?") ? "call" : text.startsWith("=") ? "result" : text === "Hm." ? "thought" : null,
  });
  return {
    turns: turns.map(({ role, content }) => `${role} ${content.map(({ text }) => text).join(" ")}`),
    lost,
  };
};

test("roles alternate, results stand behind their calls, and the user begins and ends it", () => {
  const messages: Message[] = [
    calling(call("x"), call("y")),
    result("y", "sun"),
    { role: "user", content: "and?" },
    result("x", "rain"),
    { role: "user", content: "well?" },
    { role: "assistant", content: "Both." },
  ];
  expect(inWords(messages).turns).toEqual([
    "user Begin.",
    "assistant ?x ?y",
    "user =x:rain =y:sun and? well?",
    "assistant Both.",
    "user Continue.",
  ]);
  expect(inWords([])).toEqual({ turns: [], lost: false });
});

test("calls that share an id are answered in their order; what is said too much belongs to the last of them", () => {
  const [first, second, later] = [call("same"), call("same"), call("same")];
  const results = resultsOf([
    calling(first, second),
    result("same", "one"),
    result("same", "two"),
    result("same", "more"),
    calling(later),
    result("same", "three"),
    result("nobody", "four"),
  ]);
  const said = [first, second, later].map((one) => (results.get(one) ?? []).map(({ content }) => content));
  expect(said).toEqual([["one"], ["two", "more"], ["three"]]);
});

test("a round has lost its thoughts where none stands in front of its first calls since the user spoke", () => {
  const asked: Message = { role: "user", content: "a" };
  const thinking = { ...calling(call("x")), content: "Hm." };
  expect(inWords([asked, calling(call("x"))]).lost).toBe(true);
  expect(inWords([asked, thinking, result("x", "r"), calling(call("y"))]).lost).toBe(false);
  const answered: Message = { role: "assistant", content: "Rain." };
  expect(inWords([asked, calling(call("x")), result("x", "r"), answered, asked]).lost).toBe(false);
  expect(inWords([asked, calling(call("x")), result("x", "r"), thinking]).lost).toBe(true);
});

test("thoughts stand in front of their calls, those of the first where they stood in a text that is one", () => {
  const reasoned = (id: string, ...places: number[]) => ({
    block: { text: `?${id}` },
    thoughts: places.map((after) => ({ block: { text: `(${id})` }, after })),
  });
  const order = (texts: string[], ...calls: ReturnType<typeof reasoned>[]): string[] =>
    inOrder<Word, Word>(
      texts.map((text) => ({ text })),
      calls,
    ).map(({ text }) => text);
  expect(order(["one two"], reasoned("x", 0, 3), reasoned("y", 9))).toEqual([
    "(x)",
    "one",
    "(x)",
    " two",
    "?x",
    "(y)",
    "?y",
  ]);
  expect(order(["one", "two"], reasoned("x", 3))).toEqual(["(x)", "one", "two", "?x"]);
  expect(order(["one"])).toEqual(["one"]);
});

test("numbers of arguments go on as they were written, also those that no double holds", () => {
  for (const text of [
    '{"id":175928847299117063,"rows":[{"id":-9007199254740993}]}',
    '{"x":1e400,"y":[1E-400]}',
    '{"price":1234567890.12345678}',
  ])
    expect(JSON.stringify(argumentsOf(call("x", text)))).toBe(text);
});

test("arguments that are no object are shown as they are", () => {
  expect(argumentsOf(call("x", '{"a":1}'))).toEqual({ a: 1 });
  expect(argumentsOf(call("x", " "))).toEqual({});
  for (const text of ["[1]", "nonsense", '{"a":', "null", "175928847299117063", "[175928847299117063]"])
    expect(argumentsOf(call("x", text))).toEqual({ arguments: text });
});
