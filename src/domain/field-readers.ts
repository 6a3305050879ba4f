// Readers of a request's plain fields. Each returns what the caller said, or undefined for the documented default, which wrappers
// send unasked; and throws a Refusal whose `param` is the field (wire.md §1.1).
import {
  invalid,
  type Place,
  type Range,
  readBoolean,
  readBoundedString,
  readChoice,
  readInteger,
  readNumber,
  readObject,
  requireRange,
} from "./read-value.ts";

/** Reads a present value of the top-level field `name`. */
export type FieldRead<T> = (value: unknown, name: string) => T | undefined;

const LOGIT_BIAS = { entries: 1024, min: -100, max: 100 };

/** A number within the range, inclusive. */
export const decimal =
  (range: Range, documentedDefault: number): FieldRead<number> =>
  (value, name) => {
    const number = readNumber(value, null, name);
    requireRange(number, range, "decimal", name);
    return number === documentedDefault ? undefined : number;
  };

/** An integer, within the range if there is one. It has no default to leave out. */
export const integer =
  (range?: Range): FieldRead<number> =>
  (value, name) => {
    const number = readInteger(value, null, name);
    if (range !== undefined) requireRange(number, range, "integer", name);
    return number;
  };

export const toggle =
  (documentedDefault: boolean): FieldRead<boolean> =>
  (value, name) => {
    const on = readBoolean(value, null, name);
    return on === documentedDefault ? undefined : on;
  };

/** One of these words; the refusal names them all. */
export const choice =
  <const T extends string>(choices: readonly T[], documentedDefault: T): FieldRead<T> =>
  (value, name) => {
    const chosen = readChoice(value, choices, null, name);
    return chosen === documentedDefault ? undefined : chosen;
  };

/** A string of at most `maxLength` characters. */
export const text =
  (maxLength: number): FieldRead<string> =>
  (value, name) =>
    readBoundedString(value, null, name, maxLength);

/** A map from token ids to biases; `{}` counts as absent. */
export const tokenBiases: FieldRead<Record<string, number>> = (value, name) => {
  const given = readObject(value, null, name);
  const entries = Object.entries(given);
  if (entries.length === 0) return undefined;
  const at: Place = { parent: null, step: name };
  if (entries.length > LOGIT_BIAS.entries)
    throw invalid(null, name, `may have at most ${LOGIT_BIAS.entries} entries.`);
  for (const [token, bias] of entries) {
    if (!/^\d{1,9}$/.test(token)) throw invalid(null, name, "must have token ids as its keys.");
    const amount = readNumber(bias, at, token);
    if (amount < LOGIT_BIAS.min || amount > LOGIT_BIAS.max)
      throw invalid(at, token, `must be between ${LOGIT_BIAS.min} and ${LOGIT_BIAS.max}.`);
  }
  return given as Record<string, number>;
};
