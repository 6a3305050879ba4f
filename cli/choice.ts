// Option values from a fixed list, checked before any gateway is called: any other value is wrong usage, answered
// with the nearest match.
import { InvalidArgumentError } from "commander";
import { didYouMean } from "../src/domain/near-name.ts";

/** `a`, `a or b`, `a, b or c`. */
export const orOf = (words: readonly string[]): string =>
  words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;

/** Parses an option that must be one of these words; for commander's third parameter. */
export const oneOf =
  <T extends string>(words: readonly T[]) =>
  (typed: string): T => {
    const found = words.find((word) => word === typed);
    if (found !== undefined) return found;
    throw new InvalidArgumentError(`It must be ${orOf(words)}.${didYouMean(typed, words)}`);
  };
