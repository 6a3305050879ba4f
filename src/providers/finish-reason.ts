// Maps a vendor's finish reason to ours (wire.md §8.2), with a table for each shape. An unknown word is `stop`. A
// word for a failure of the model or its vendor is no finish: it throws. If the model failed, the request may be the
// reason, so no route is blamed.
import { Failure } from "./failure.ts";
import type { FinishReason } from "./provider.ts";

/** Words separated by blanks. `failed`: the vendor failed; `no_answer`: the model did. */
type FinishWords = Partial<Record<Exclude<FinishReason, "stop"> | "failed" | "no_answer", string>>;

/** Returns a reader of such words; it throws `Failure` for a word that means a failure. */
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
