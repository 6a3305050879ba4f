import { expect, test } from "bun:test";
import fc from "fast-check";
import { printPlaced, readPlaced, withThoughts } from "./thoughts-in-text.ts";

const said = (text: string, after: readonly number[]): string[] =>
  withThoughts(
    text,
    after.map((place, index) => ({ block: `(${index})`, after: place })),
    (piece) => piece,
  );

test("thoughts stand where they stood, and never inside a character", () => {
  expect(said("one two", [0, 4])).toEqual(["(0)", "one ", "(1)", "two"]);
  expect(said("one", [99])).toEqual(["one", "(0)"]);
  expect(said("aaaa😀b", [5])).toEqual(["aaaa", "(0)", "😀b"]);
  expect(said("😀", [1])).toEqual(["(0)", "😀"]);
  expect(said(" \nword", [1])).toEqual(["(0)", " \nword"]);
  expect(said("back", [3, 1])).toEqual(["bac", "(0)", "(1)", "k"]);
});

test("whatever the places, the text is all there, whole characters in each piece", () => {
  const text = fc.string({ unit: fc.constantFrom("a", " ", "😀", "漢"), maxLength: 20 });
  fc.assert(
    fc.property(text, fc.array(fc.nat({ max: 30 }), { maxLength: 5 }), (words, places) => {
      const pieces = said(words, places).filter((piece) => !piece.startsWith("("));
      expect(pieces.join("").trimEnd()).toBe(words.trimEnd());
      for (const piece of pieces) expect(piece.isWellFormed()).toBe(true);
    }),
  );
});

const word = ({ said: own }: Record<string, unknown>): object | null =>
  typeof own === "string" ? { said: own } : null;

test("what leaves has an index and no other number, and comes back as it left", () => {
  const placed = [
    { block: { said: "a" }, after: 0 },
    { block: { said: "b" }, after: 12 },
  ];
  const left = printPlaced(placed);
  expect(left).toEqual([
    { index: 0, said: "a" },
    { index: 1, said: "b", after: "12" },
  ]);
  expect(readPlaced(left, word)).toEqual(placed);
});

test.each([
  ["nothing", undefined],
  ["no list", { 0: { said: "a" } }],
  ["an empty list", []],
  ["a list without end", Array.from({ length: 257 }, () => ({ said: "a" }))],
  ["one that is none among them", [{ said: "a" }, { said: 7 }]],
  ["no object", ["a"]],
  ["a place that is a number", [{ said: "a", after: 3 }]],
  ["a place in front of all", [{ said: "a", after: "-1" }]],
])("%s: none of it counts", (_, list) => {
  expect(readPlaced(list, word)).toBeNull();
});
