// Numbers that no double holds are kept as they were written; all others behave as usual.
import { expect, test } from "bun:test";
import { exactObject, withExact } from "./exact-json.ts";
import type { JsonObject } from "./read-value.ts";

test.each([
  "175928847299117063",
  "-9007199254740993",
  "3.4028234663852886e+38",
  "12345678.12345678901",
  "0.1234567890123456789",
  "1e400",
  "-1E+400",
  "1e-400",
  '[[{"a":1e309}]]',
])("%s prints as it was written", (text) => {
  const object = `{"a":${text}}`;
  expect(JSON.stringify(exactObject(object, JSON.parse(object) as JsonObject))).toBe(object);
});

test("only values under the given name are kept as written, at any depth; other numbers are numbers", () => {
  const text = '{"n":1.0,"id":175928847299117063,"calls":[{"args":{"id":175928847299117063}},{"args":1}]}';
  const read = withExact(text, JSON.parse(text) as object, ["args"]);
  expect(JSON.stringify(read)).toBe(
    '{"n":1,"id":175928847299117060,"calls":[{"args":{"id":175928847299117063}},{"args":1}]}',
  );
});
