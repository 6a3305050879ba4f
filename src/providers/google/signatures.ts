// Thought signatures (wire.md §8.4): Gemini sends one with the first call of a step and wants it back there, for as
// long as the turn lasts. They are handed over under the name of Google's own compatible layer,
// `extra_content.google.thought_signature`, with a mark of their issuer: a signature of another model or another
// provider would be rejected, so it is not sent.
import { isJsonObject } from "../../domain/read-value.ts";
import { extraOf } from "../extra-content.ts";

const FAMILY = "google";
/** What the vendor accepts in place of a missing signature, in its own words: it skips the check. */
export const NO_SIGNATURE = "skip_thought_signature_validator";
const SIGNATURE = /^[\w+/=-]+$/;
/** They grow with the thoughts behind them; a request may hold 8 MiB. */
const SIGNATURE_CHARACTERS_MAX = 1024 * 1024;

/** Returns what is handed over with a call. */
export const keptSignature = (signature: string, issuer: string): Record<string, unknown> => ({
  [FAMILY]: { thought_signature: signature, issuer },
});

/** Returns a signature that may be kept or sent; null for anything else. */
export const signatureOf = (value: unknown): string | null =>
  typeof value === "string" && value.length <= SIGNATURE_CHARACTERS_MAX && SIGNATURE.test(value)
    ? value
    : null;

/**
 * Returns the signature that came back with a call; null if there is none that this model would accept. One without a
 * mark counts as this model's own.
 */
export function returnedSignature(extra: Record<string, unknown> | undefined, issuer: string): string | null {
  const own = extraOf(extra, FAMILY);
  if (!isJsonObject(own) || !Object.hasOwn(own, "thought_signature")) return null;
  const marked = Object.hasOwn(own, "issuer") ? own["issuer"] : issuer;
  return marked === issuer ? signatureOf(own["thought_signature"]) : null;
}
