// What another shape's provider wants back with a call — signatures, thoughts — travels in `encrypted_content` of the reasoning
// item in front of it, under a mark of ours. Who forges one says no more than `extra_content` of a chat message may say.
import { printSealed, readSealed } from "../../../domain/carried-state.ts";
import { isJsonObject } from "../../../domain/read-value.ts";

const MARK = "tollgate.state.";
/** As much as a call's own state may be (wire.md §8.4), in the letters that it takes here. */
const CHARACTERS_MAX = 4 * 1024 * 1024;

export interface CarriedState {
  /** The call that it goes back with; null: none, it says that the summary beside it is the whole reasoning. */
  call: string | null;
  extra: Record<string, unknown>;
}

/** As text of the alphabet of base64url, behind our mark: it is not secret, and not proof of anything. */
export const sealState = (state: CarriedState): string => printSealed(MARK, state);

/** Null for what was not sealed here: another gateway's, a provider's own, or a damaged one. */
export function unsealState(text: unknown): CarriedState | null {
  const { call, extra } = readSealed(text, MARK, CHARACTERS_MAX) ?? {};
  if (!isJsonObject(extra)) return null;
  return call === null || typeof call === "string" ? { call, extra } : null;
}
