import { expect, test } from "bun:test";
import fc from "fast-check";
import { outlineOf } from "./json-outline.ts";
import { ListSpans } from "./list-spans.ts";
import type { JsonObject } from "./read-value.ts";
import { joined, printMembers, WrittenLists } from "./written-lists.ts";

type Change = (name: string, element: unknown) => unknown;

/** What is sent of a body, and how many of its bytes were taken over. */
function sent(body: string, change: Change = (_, element) => element): { text: string; taken: number } {
  const bytes = Buffer.from(body);
  const value = JSON.parse(body) as JsonObject;
  const spans = new ListSpans();
  outlineOf(bytes, { lists: spans });
  const written = new WrittenLists(bytes, value, spans.lists);
  const pieces = printMembers(changed(value, change), written);
  const taken = [pieces]
    .flat()
    .reduce((sum, piece) => sum + (typeof piece === "string" ? 0 : piece.byteLength), 0);
  const text = joined("{", pieces, "}");
  return { text: typeof text === "string" ? text : Buffer.from(text).toString(), taken };
}

/** A copy whose lists have other elements; those that become undefined are left out. */
const changed = (value: JsonObject, change: Change): JsonObject =>
  Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      Array.isArray(member)
        ? member.map((element) => change(name, element)).filter((element) => element !== undefined)
        : member,
    ]),
  );

const MESSAGES = [
  { role: "user", content: 'a "quoted" line\nand — some é letters 大 😀 \u007f' },
  { role: "assistant", content: null, tool_calls: [{ id: "c", function: { arguments: '{"a":[1]}' } }] },
  { role: "tool", tool_call_id: "c", content: "C:\\temp\\new", cost: [0, -1, 123456789012345] },
];

test("a list that is written as it would be printed is taken over whole, with the commas in it", () => {
  const body = JSON.stringify({ model: "m", messages: MESSAGES, n: 1 });
  expect(sent(body)).toEqual({ text: body, taken: Buffer.byteLength(JSON.stringify(MESSAGES)) - 2 });
});

test("an element that changed is printed, and those around it are taken over", () => {
  const body = JSON.stringify({ messages: MESSAGES, tools: [{ name: "t" }] });
  const renamed: Change = (_, element) =>
    (element as { role?: string }).role === "assistant" ? { role: "model" } : element;
  const first = Buffer.byteLength(JSON.stringify(MESSAGES[0]));
  const last = Buffer.byteLength(JSON.stringify(MESSAGES[2]));
  expect(sent(body, renamed)).toEqual({
    text: JSON.stringify({ messages: [MESSAGES[0], { role: "model" }, MESSAGES[2]], tools: [{ name: "t" }] }),
    taken: first + last + '{"name":"t"}'.length,
  });
});

test.each([
  ["a blank outside strings", '{"a": "b"}'],
  ["a line break", '{"a":"b"\n}'],
  ["a slash with an escape", String.raw`{"a":"b\/c"}`],
  ["a letter as an escape", String.raw`{"a":"\u00e9"}`],
  ["a control character as an escape", String.raw`{"a":"\u000A"}`],
  ["a number with an exponent", '{"a":1e15}'],
  ["a number with a fraction", '{"a":1.0}'],
  ["a negative zero", '{"a":-0}'],
  ["a long number", '{"a":1234567890123456}'],
  ["names that change their places", '{"a":1,"2":2,"1":1}'],
])("%s is printed anew", (_, element) => {
  const { text, taken } = sent(`{"messages":[${element}]}`);
  expect([text, taken]).toEqual([JSON.stringify({ messages: [JSON.parse(element)] }), 0]);
});

test("only the rough element of a list is printed anew, wherever it is", () => {
  for (const rough of ['{"a": 1}', '{"a":"\\u001b"}', " {}", "1.50"]) {
    const { text, taken } = sent(`{"messages":[{"a":1},${rough},{"b":2}]}`);
    expect(text).toBe(`{"messages":[{"a":1},${JSON.stringify(JSON.parse(rough))},{"b":2}]}`);
    expect(taken).toBe('{"a":1}{"b":2}'.length);
  }
});

test("names keep the caller's order, which says nothing: clients disagree about it", () => {
  const body = '{"messages":[{"content":[{"b":1,"a":[]}],"role":"a"}]}';
  const { text, taken } = sent(body, () => ({ role: "a", content: [{ a: [], b: 1 }] }));
  expect([text, taken]).toEqual([body, '{"content":[{"b":1,"a":[]}],"role":"a"}'.length]);
});

test.each([
  ["a name less", { a: 1 }],
  ["a name more", { a: 1, b: null, c: null }],
  ["another name", { a: 1, c: null }],
  ["one without a value", { a: 1, c: undefined }],
  ["one of every object", { a: 1, toString: null }],
  ["another value", { a: 1, b: 0 }],
  ["a list", [1, null]],
])("%s is another element", (_, element) => {
  const { text, taken } = sent('{"messages":[{"a":1,"b":null}]}', () => element);
  expect([text, taken]).toEqual([JSON.stringify({ messages: [element] }), 0]);
});

test("lists elsewhere, and those whose name has escapes, are printed", () => {
  for (const body of ['{"a":{"messages":[{"b":"c"}]}}', String.raw`{"messa\u0067es":[{"b":"c"}]}`]) {
    const { text, taken } = sent(body);
    expect([text, taken]).toEqual([JSON.stringify(JSON.parse(body)), 0]);
  }
});

/** JSON values with members that JSON.parse would order, drop or spell otherwise. */
const { tree: anyValue } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4 },
    fc.string({ unit: "binary" }).map((text) => text.toWellFormed()),
    fc.constantFrom("\\u", "\\/", "\u0007", '\\"', "\u007f", "\u2028", ""),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(null, true, false, 0, -0, 1e21, 1e-7, 123456789012345),
    fc.array(tie("tree"), { maxLength: 4 }),
    fc.dictionary(fc.oneof(fc.string({ maxLength: 4 }), fc.constantFrom("0", "12", "01", "a")), tie("tree"), {
      maxKeys: 4,
      noNullPrototype: true,
    }),
  ),
}));

/** Ways to write the same value. */
const STYLES: ((text: string) => string)[] = [
  (text) => text,
  (text) => JSON.stringify(JSON.parse(text), null, 1),
  (text) => text.replaceAll("/", "\\/"),
  (text) =>
    text.replaceAll(/[^\0-\u007e]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`),
];

/** The same with its names the other way round. */
function turned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(turned);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([name, member]) => [name, turned(member)]),
  );
}

test("whatever is written, and however, the text says what JSON.stringify prints, in as many bytes", () => {
  const element = fc.tuple(
    anyValue,
    fc.constantFrom(...STYLES),
    fc.constantFrom("keep", "drop", "change", "turn"),
  );
  const lists = fc.array(fc.tuple(fc.constantFrom("messages", "tools", "input", "0"), fc.array(element)), {
    maxLength: 3,
  });
  fc.assert(
    fc.property(lists, (members) => {
      const written = members.map(([, list], at): [string, string[]] => [
        `${at}${members[at]?.[0] ?? ""}x`.slice(at % 2),
        list.map(([value, style]) => style(JSON.stringify(value))),
      ]);
      const names = new Set(written.map(([name]) => name));
      fc.pre(names.size === written.length && !JSON.stringify(written).includes("__proto__"));
      const body = `{"model":"m",${[...written, ["last", []] as const].map(([name, list]) => `${JSON.stringify(name)}:[${list.join(",")}]`).join(",")}}`;
      let at = 0;
      const fates = members.flatMap(([, list]) => list.map(([, , fate]) => fate));
      const change: Change = (_, value) => {
        const fate = fates[at++ % Math.max(1, fates.length)];
        if (fate === "drop") return undefined;
        return fate === "change" ? { was: value } : fate === "turn" ? turned(value) : value;
      };
      const { text } = sent(body, change);
      at = 0;
      const printed = JSON.stringify(changed(JSON.parse(body) as JsonObject, change));
      if (!fates.includes("turn")) expect(text).toBe(printed);
      expect(JSON.parse(text)).toEqual(JSON.parse(printed));
      expect(Buffer.byteLength(text)).toBe(Buffer.byteLength(printed));
    }),
    { numRuns: 1_000 },
  );
});
