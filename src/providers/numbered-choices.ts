// The index of each choice when several come at once (wire.md §8.2).
import { isJsonObject, isPresent } from "../domain/read-value.ts";

/** Numbers several choices without indexes in their order. A single choice without an index is left to its reader. */
export const numbered = (choices: readonly unknown[]): readonly unknown[] =>
  choices.length > 1 && choices.every((choice) => isJsonObject(choice) && !isPresent(choice["index"]))
    ? choices.map((choice, index) => ({ ...(choice as object), index }))
    : choices;
