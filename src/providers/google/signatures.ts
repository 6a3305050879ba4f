// Thought signatures (wire.md §8.4): what Gemini gives with the first call of a step and wants back on it, for as long as the
// turn lasts. They leave under Google's own name of its compatible layer, `extra_content.google.thought_signature`, beside
// a mark of who issued them: a signature of another model or another provider is refused upstream, so it is not sent there.
import { isJsonObject } from "../../domain/read-value.ts";
import { extraOf } from "../extra-content.ts";

const FAMILY = "google";
/** What the vendor takes instead of a signature that there is none of, in its own words: it skips the check. */
export const NO_SIGNATURE = "skip_thought_signature_validator";
const SIGNATURE = /^[\w+/=-]+$/;
/** They grow with the thoughts behind them; a request may hold 8 MiB. */
const SIGNATURE_CHARACTERS_MAX = 1024 * 1024;

/** What leaves with a call. */
export const keptSignature = (signature: string, issuer: string): Record<string, unknown> => ({
  [FAMILY]: { thought_signature: signature, issuer },
});

/** A signature as it may be kept or sent; null for anything else. */
export const signatureOf = (value: unknown): string | null =>
  typeof value === "string" && value.length <= SIGNATURE_CHARACTERS_MAX && SIGNATURE.test(value)
    ? value
    : null;

/** What came back with a call; null where nothing did that this model would take. Without a mark it is taken for its own. */
export function returnedSignature(extra: Record<string, unknown> | undefined, issuer: string): string | null {
  const own = extraOf(extra, FAMILY);
  if (!isJsonObject(own) || !Object.hasOwn(own, "thought_signature")) return null;
  const marked = Object.hasOwn(own, "issuer") ? own["issuer"] : issuer;
  return marked === issuer ? signatureOf(own["thought_signature"]) : null;
}
