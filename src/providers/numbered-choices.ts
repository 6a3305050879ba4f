// Which choice each of several is that come at once (wire.md §8.2).
import { isObject, isUntold } from "./http/json.ts";

/** Several of which none says which it is stand in their order; one alone without an index is its reader's to judge. */
export const numbered = (choices: readonly unknown[]): readonly unknown[] =>
  choices.length > 1 && choices.every((choice) => isObject(choice) && isUntold(choice["index"]))
    ? choices.map((choice, index) => ({ ...(choice as object), index }))
    : choices;
