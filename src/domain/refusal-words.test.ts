// The words of a refusal for readers of a page who do not see the answer.
import { expect, test } from "bun:test";
import { plainWordsOf, REFUSAL_WORDS } from "./refusal-words.ts";

test("a page never refers to a field of a response that its reader does not see", () => {
  for (const code of Object.keys(REFUSAL_WORDS)) {
    const { happened, next } = plainWordsOf(code) ?? { happened: "", next: "" };
    expect([code, `${happened}; ${next}`]).toEqual([code, expect.not.stringMatching(/`|details|resets_at/)]);
    expect(happened.length * next.length).toBeGreaterThan(0);
  }
  expect(plainWordsOf("a_code_of_another_time")).toBeNull();
});
