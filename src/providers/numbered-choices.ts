// Which choice each of several is that come at once (wire.md §8.2).
import { isJsonObject, isPresent } from "../domain/read-value.ts";

/** Several of which none says which it is stand in their order; one alone without an index is its reader's to judge. */
export const numbered = (choices: readonly unknown[]): readonly unknown[] =>
  choices.length > 1 && choices.every((choice) => isJsonObject(choice) && !isPresent(choice["index"]))
    ? choices.map((choice, index) => ({ ...(choice as object), index }))
    : choices;
