// A vendor's word for the end of an answer → ours (wire.md §8.2): a table for each shape. A word that nobody knows is `stop`; what
// a model or its vendor failed with is no end of an answer.
import { Failure } from "./failure.ts";
import type { FinishReason } from "./provider.ts";

/** Words, with blanks between them. */
type FinishWords = Partial<Record<Exclude<FinishReason, "stop"> | "failed", string>>;

/** What reads a word; it throws `Failure` for one that means that the model failed. */
export function finishReader(words: FinishWords): (word: string) => FinishReason {
  const meanings = new Map<string, keyof FinishWords>();
  for (const [meaning, list] of Object.entries(words) as [keyof FinishWords, string][])
    for (const word of list.split(" ")) meanings.set(word, meaning);
  return (word) => {
    const meaning = meanings.get(word) ?? "stop";
    if (meaning === "failed")
      throw new Failure("server", "unknown", `the upstream gave up (${word.toLowerCase()})`);
    return meaning;
  };
}
