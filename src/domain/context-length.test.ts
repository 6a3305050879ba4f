import { expect, test } from "bun:test";
import { afterContextSentence, countTooHigh, requestTooLong } from "./context-length.ts";

test.each([
  [
    requestTooLong(1_000, 900, 200),
    "you requested 1100 tokens (900 in the messages, 200 in the completion).",
  ],
  [countTooHigh(1_000, 1_200), "The provider counts 1200 in this request."],
  [countTooHigh(1_000, undefined), "The provider counts more in this request."],
])("%s is found again before whatever follows it", (sentence, end) => {
  expect(sentence).toStartWith("This model's maximum context length is 1000 tokens. ");
  expect(sentence).toEndWith(end);
  expect(afterContextSentence(sentence)).toBe("");
  expect(afterContextSentence(`${sentence} Shorten the messages.`)).toBe("Shorten the messages.");
});

test("a message that names no window is left unchanged", () => {
  const message = countTooHigh(undefined, 1_200);
  expect(message).toBe("The provider counts more in this request than the model's maximum context length.");
  expect(afterContextSentence(message)).toBeNull();
});
