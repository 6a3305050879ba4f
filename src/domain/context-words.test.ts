import { expect, test } from "bun:test";
import { behindContextWords, countedTooMuch, requestedTooMuch } from "./context-words.ts";

test.each([
  [
    requestedTooMuch(1_000, 900, 200),
    "you requested 1100 tokens (900 in the messages, 200 in the completion).",
  ],
  [countedTooMuch(1_000, 1_200), "The provider counts 1200 in this request."],
  [countedTooMuch(1_000, undefined), "The provider counts more in this request."],
])("%s is found again before whatever follows it", (sentence, end) => {
  expect(sentence).toStartWith("This model's maximum context length is 1000 tokens. ");
  expect(sentence).toEndWith(end);
  expect(behindContextWords(sentence)).toBe("");
  expect(behindContextWords(`${sentence} Shorten the messages.`)).toBe("Shorten the messages.");
});

test("a message that names no window is left unchanged", () => {
  const message = countedTooMuch(undefined, 1_200);
  expect(message).toBe("The provider counts more in this request than the model's maximum context length.");
  expect(behindContextWords(message)).toBeNull();
});
