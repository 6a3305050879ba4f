import { expect, test } from "bun:test";
import type { TokenUsage } from "./records.ts";
import { classesIn, printClasses } from "./usage-classes.ts";

const usage: TokenUsage = { promptTokens: 9, completionTokens: 2, cachedTokens: 1, reasoningTokens: null };

test("no classes print as null; the same classes print the same text in any order", () => {
  expect(printClasses(usage)).toBeNull();
  expect(classesIn(null)).toEqual({});
  const classes = { serviceTier: "flex", calls: 1, cacheWriteTokens: 5 };
  const printed = '{"cacheWriteTokens":5,"calls":1,"serviceTier":"flex"}';
  expect(printClasses({ ...usage, ...classes })).toBe(printed);
  expect(classesIn(printed)).toEqual(classes);
});

test("a class of a newer program is left out; invalid text is an error, not a guess", () => {
  expect(classesIn('{"calls":1,"video":7}')).toEqual({ calls: 1 });
  for (const wrong of ["", "7", "null", "[]", '{"calls":"1"}', '{"calls":-1}', '{"serviceTier":"A B"}'])
    expect(() => classesIn(wrong)).toThrow();
  expect(() => printClasses({ calls: 0.5 })).toThrow();
});
