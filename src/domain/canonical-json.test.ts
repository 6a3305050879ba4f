import { expect, test } from "bun:test";
import fc from "fast-check";
import { canonicalJson } from "./canonical-json.ts";
import { exactObject } from "./exact-json.ts";

/** The same value with the members of every object inserted in reverse. */
function reversed(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(reversed);
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, member]) => [key, reversed(member)]),
  );
}

test("the order in which members were written does not matter", () => {
  expect(canonicalJson({ b: 1, a: { d: [1, { z: 0, y: null }], c: "é" } })).toBe(
    '{"a":{"c":"é","d":[1,{"y":null,"z":0}]},"b":1}',
  );
  fc.assert(fc.property(fc.jsonValue(), (value) => canonicalJson(value) === canonicalJson(reversed(value))));
});

test("nothing of the value is lost, so different values have different texts", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
  expect(canonicalJson([1, 2])).not.toBe(canonicalJson([2, 1]));
  expect(canonicalJson("1")).not.toBe(canonicalJson(1));
  expect(canonicalJson({ a: null })).not.toBe(canonicalJson({}));
});

test("numbers that a double cannot hold stay different", () => {
  const [one, other] = ["175928847299117063", "175928847299117060"].map((id) =>
    canonicalJson(exactObject(`{"b":[{"id":${id}}],"a":1}`, { read: "before" })),
  );
  expect(one).toBe('{"a":1,"b":[{"id":175928847299117063}]}');
  expect(other).toBe('{"a":1,"b":[{"id":175928847299117060}]}');
});

test("a key named __proto__ is a key like any other", () => {
  const value: unknown = JSON.parse('{"__proto__":{"x":1},"a":2}');
  expect(canonicalJson(value)).toBe('{"__proto__":{"x":1},"a":2}');
});
