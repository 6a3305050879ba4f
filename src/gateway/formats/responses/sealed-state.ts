// State that a provider of another shape wants back with a call (signatures, thoughts) travels in `encrypted_content` of the
// reasoning item in front of it, under a mark of ours. A forged one can say no more than `extra_content` of a chat message may.
import { printSealed, readSealed } from "../../../domain/carried-state.ts";
import { isJsonObject } from "../../../domain/read-value.ts";

const MARK = "tollgate.state.";
/** The bound of a call's own state (wire.md §8.4), in the characters that it takes here. */
const CHARACTERS_MAX = 4 * 1024 * 1024;

export interface CarriedState {
  /** The call that it belongs to; null: none, the summary beside it is the whole reasoning. */
  call: string | null;
  extra: Record<string, unknown>;
}

/** As base64url text behind our mark: it is neither secret nor proof of anything. */
export const sealState = (state: CarriedState): string => printSealed(MARK, state);

/** Null for a state that was not sealed here: another gateway's, a provider's own, or a damaged one. */
export function unsealState(text: unknown): CarriedState | null {
  const { call, extra } = readSealed(text, MARK, CHARACTERS_MAX) ?? {};
  if (!isJsonObject(extra)) return null;
  return call === null || typeof call === "string" ? { call, extra } : null;
}
