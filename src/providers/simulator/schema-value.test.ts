// A simulated model's value for a schema is small whatever the schema requires, since a caller wrote it.
import { expect, test } from "bun:test";
import { valueOf } from "./schema-value.ts";

const sizeOf = (schema: unknown): number => JSON.stringify(valueOf(schema)).length;
const text = (minLength: number) => ({ type: "string", minLength });
const object = (properties: Record<string, unknown>, required: unknown[] = Object.keys(properties)) => ({
  type: "object",
  properties,
  required,
});

test("a required name that stands there many times is filled in once, at every level", () => {
  let schema: object = { type: "string" };
  for (let level = 0; level < 14; level += 1) schema = object({ a: schema }, Array(12).fill("a"));
  expect(sizeOf(schema)).toBe('{"a":'.length * 14 + '"text"'.length + 14);
});

test("a text is as long as its schema asks for, up to 4096 letters", () => {
  expect(valueOf(text(9))).toBe("textttttt");
  expect(valueOf(text(-1))).toBe("text");
  for (const asked of [4096, 4097, 1_000_000_000, 1e300])
    expect(valueOf(text(asked))).toBe("text".padEnd(4096, "t"));
});

test("a value has at most 16,384 members and letters asked for together, however many its schema has", () => {
  const many = (schema: object): object =>
    object(Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`p${at}`, schema])));
  expect(Object.keys(valueOf(many({ type: "boolean" })) as object).length).toBe(16_383);
  expect(sizeOf(many(text(4096)))).toBeLessThan(400_000);
  expect(sizeOf(many(many(text(4096))))).toBeLessThan(400_000);
});

test("an ordinary schema is satisfied", () => {
  const schema = object({
    name: text(6),
    kind: { enum: ["a", "b"] },
    sizes: { type: "array", items: { type: "integer", minimum: 2.5 } },
    none: { type: "array", minItems: 0 },
    either: { anyOf: [{ type: ["null", "boolean"] }, { type: "null" }] },
    inner: { properties: { fixed: { const: 7 } } },
  });
  expect(valueOf(schema)).toEqual({
    name: "texttt",
    kind: "a",
    sizes: [3],
    none: [],
    either: true,
    inner: { fixed: 7 },
  });
});
