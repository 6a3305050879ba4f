import { expect, test } from "bun:test";
import { FIELDS_MAX, ReceivedBody, VALUES_MAX } from "./received-body.ts";

const weigh = (text: string): number | null => new ReceivedBody(Buffer.from(text)).weight();

test.each([
  ['"a text, with [ its ] own { signs : in } it"', 1],
  ['{"a":1}', 3],
  ["[1,2,3]", 4],
  ["[{},{}]", 5],
  ['["\\"",",,,","\\\\",1]', 5],
  ['{"a\\\\":[1,{"b":[]}],"c,:":"d"}', 10],
  ['"not ended, [', 1],
  ['"not ended \\', 1],
  ["", 1],
])("%s weighs its text and 16 bytes for each of its values and fields", (text, count) => {
  expect(weigh(text)).toBe(text.length + 16 * count);
});

test("a body with more fields or values than allowed has no weight", () => {
  expect(weigh(`{${Array.from({ length: FIELDS_MAX }, () => '"":0').join(",")}}`)).toBeNumber();
  expect(weigh(`{${Array.from({ length: FIELDS_MAX + 1 }, () => '"":0').join(",")}}`)).toBeNull();
  expect(weigh(`[${"0,".repeat(VALUES_MAX - 2)}0]`)).toBeNumber();
  expect(weigh(`[${"0,".repeat(VALUES_MAX - 1)}0]`)).toBeNull();
});

test("a text of any length is one value, however it is escaped", () => {
  const text = JSON.stringify('"quoted", \\ and {such}: [\n'.repeat(100_000));
  expect(weigh(text)).toBe(text.length + 16);
});

test("a text is one value wherever its escapes stand", () => {
  for (let length = 0; length < 120; length += 1)
    for (const end of ["", "\\\\", '\\"', '\\\\\\"', '\\"\\\\', "\\u0041"]) {
      const text = `["${"x".repeat(length)}${end}","${end}${",".repeat(length)}",1]`;
      expect(weigh(text)).toBe(text.length + 16 * 4);
    }
});
