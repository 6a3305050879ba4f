// How much memory a request's body takes once it is read: its text, plus something for each value, however short. Estimated
// from its bytes before it is parsed, because a body of empty objects becomes thirty times as large (decision 86).
import { outlineOf } from "./json-outline.ts";

/** Most object members and values in a body; a list or an object counts as two values. */
export const FIELDS_MAX = 250_000;
export const VALUES_MAX = 500_000;

/**
 * Bytes for each value and each member, beside their text. Measured: 200,000 messages take 33 bytes each, and three for each
 * byte of text; an empty object, which counts as two, takes 72 where it is kept once.
 */
const VALUE_BYTES = 16;

/**
 * Returns the weight in bytes of a body that is one JSON text; null where it has more members or values than any body may
 * have. For a body that is not JSON it returns what the body weighs until that is found out.
 */
export function weightOf(body: Uint8Array): number | null {
  const outline = outlineOf(body, { members: FIELDS_MAX, values: VALUES_MAX });
  return outline && body.byteLength + VALUE_BYTES * (outline.members + outline.values);
}
