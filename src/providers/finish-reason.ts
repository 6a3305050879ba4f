// A vendor's word for the end of an answer → ours (wire.md §8.2): a table for each shape. A word that nobody knows is `stop`; what
// a model or its vendor failed with is no end of an answer.
// Where it was the model, what it was asked may be why: that is held against no route.
import { Failure } from "./failure.ts";
import type { FinishReason } from "./provider.ts";

/** Words, with blanks between them. `failed`: the vendor; `no_answer`: the model. */
type FinishWords = Partial<Record<Exclude<FinishReason, "stop"> | "failed" | "no_answer", string>>;

/** What reads a word; it throws `Failure` for one that means that the model failed. */
export function finishReader(words: FinishWords): (word: string) => FinishReason {
  const meanings = new Map<string, keyof FinishWords>();
  for (const [meaning, list] of Object.entries(words) as [keyof FinishWords, string][])
    for (const word of list.split(" ")) meanings.set(word, meaning);
  return (word) => {
    const meaning = meanings.get(word) ?? "stop";
    if (meaning === "failed")
      throw new Failure("server", "unknown", `the upstream gave up (${word.toLowerCase()})`);
    if (meaning === "no_answer")
      throw new Failure("no_answer", "unknown", `the model gave no answer (${word.toLowerCase()})`);
    return meaning;
  };
}
