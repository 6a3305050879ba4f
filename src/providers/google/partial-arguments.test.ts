import { expect, test } from "bun:test";
import fc from "fast-check";
import { thrown } from "../http/http.fixtures.ts";
import { PartialArguments } from "./partial-arguments.ts";

/** Yields a value piece by piece, as Vertex sends it: leaves in order, strings in parts. */
function* piecesOf(value: unknown, path: string, cut: number): Generator<object> {
  if (typeof value === "string") {
    const middle = Math.min(cut, value.length);
    yield { jsonPath: path, stringValue: value.slice(0, middle), willContinue: true };
    yield { jsonPath: path, stringValue: value.slice(middle), willContinue: true };
    yield { jsonPath: path, stringValue: "" };
  } else if (typeof value === "number") yield { jsonPath: path, numberValue: value };
  else if (typeof value === "boolean") yield { jsonPath: path, boolValue: value };
  else if (value === null) yield { jsonPath: path, nullValue: "NULL_VALUE" };
  else if (Array.isArray(value))
    for (const [at, item] of value.entries()) yield* piecesOf(item, `${path}[${at}]`, cut);
  else
    for (const [name, item] of Object.entries(value as object))
      yield* piecesOf(
        item,
        /^[a-z]\w*$/.test(name) ? `${path}.${name}` : `${path}['${name.replaceAll(/['\\]/g, "\\$&")}']`,
        cut,
      );
}

const leaf = fc.oneof(
  fc.string({ unit: fc.constantFrom("a", '"', "\\", "\n", "é", "😀"), maxLength: 6 }),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
);
const name = fc.string({
  unit: fc.constantFrom("a", "b", "_", " ", "'", "\\", ".", "["),
  minLength: 1,
  maxLength: 4,
});
const { value: tree } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    leaf,
    fc.array(tie("value"), { minLength: 1, maxLength: 3 }),
    fc.dictionary(name, tie("value"), { minKeys: 1, maxKeys: 3 }),
  ),
}));

test("pieces in their order make the value's own text, however its strings are cut", () => {
  fc.assert(
    fc.property(fc.dictionary(name, tree, { maxKeys: 4 }), fc.nat(5), fc.nat(3), (args, cut, group) => {
      const reader = new PartialArguments();
      const pieces = [...piecesOf(args, "$", cut)];
      let text = "";
      for (let at = 0; at < pieces.length; at += group + 1)
        text += reader.read(pieces.slice(at, at + group + 1));
      text += reader.end();
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(args)));
    }),
  );
});

test("it is told as it grows", () => {
  const reader = new PartialArguments();
  expect(reader.read([{ jsonPath: "$.id", stringValue: 'A"', willContinue: true }])).toBe('{"id":"A\\"');
  expect(reader.read([{ jsonPath: "$.id", stringValue: "B", willContinue: true }])).toBe("B");
  expect(reader.read([{ jsonPath: "$.id", stringValue: "" }])).toBe('"');
  expect(reader.read([{ jsonPath: "$.n", numberValue: 2 }])).toBe(',"n":2');
  expect(reader.end()).toBe("}");
});

test("a call without a piece has no arguments", () => {
  expect(new PartialArguments().end()).toBe("{}");
});

test.each<[string, object[]]>([
  [
    "a place that was left",
    [
      { jsonPath: "$.a", numberValue: 1 },
      { jsonPath: "$.a", numberValue: 2 },
    ],
  ],
  [
    "an object that was left",
    [
      { jsonPath: "$.a.b", numberValue: 1 },
      { jsonPath: "$.c", numberValue: 2 },
      { jsonPath: "$.a.d", numberValue: 2 },
    ],
  ],
  ["a list with a hole", [{ jsonPath: "$.a[1]", numberValue: 1 }]],
  [
    "a list that becomes an object",
    [
      { jsonPath: "$.a[0]", numberValue: 1 },
      { jsonPath: "$.a.b", numberValue: 1 },
    ],
  ],
  ["a list on top", [{ jsonPath: "$[0]", numberValue: 1 }]],
  ["no place", [{ numberValue: 1 }]],
  ["the top itself", [{ jsonPath: "$", numberValue: 1 }]],
  ["a place that is none", [{ jsonPath: "$.a..b", numberValue: 1 }]],
  ["a place without end", [{ jsonPath: `$${".a".repeat(65)}`, numberValue: 1 }]],
])("%s breaks the answer instead of its JSON", (_, pieces) => {
  const failure = thrown(() => new PartialArguments().read(pieces));
  expect([failure.reason, failure.executed]).toEqual(["broken", "unknown"]);
});
