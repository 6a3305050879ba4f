// What another shape's provider wants back with a call — signatures, thoughts — travels in `encrypted_content` of the reasoning
// item in front of it, under a mark of ours. Who forges one says no more than `extra_content` of a chat message may say.
import { isJsonObject } from "../../../domain/read-value.ts";
import { parseJson } from "../../../domain/parse-json.ts";
import { Refusal } from "../../../domain/refusals.ts";

const MARK = "tollgate.state.";
/** As much as a call's own state may be (wire.md §8.4), in the letters that it takes here. */
const CHARACTERS_MAX = 4 * 1024 * 1024;

export interface CarriedState {
  /** The call that it goes back with; null: none, it says that the summary beside it is the whole reasoning. */
  call: string | null;
  extra: Record<string, unknown>;
}

export const sealState = ({ call, extra }: CarriedState): string =>
  MARK + Buffer.from(JSON.stringify({ call, extra })).toString("base64url");

/** Null for what was not sealed here: another gateway's, a provider's own, or a damaged one. */
export function unsealState(text: unknown): CarriedState | null {
  if (typeof text !== "string" || !text.startsWith(MARK) || text.length > CHARACTERS_MAX) return null;
  try {
    const value = parseJson(Buffer.from(text.slice(MARK.length), "base64url"));
    if (!isJsonObject(value) || !isJsonObject(value.extra)) return null;
    const { call, extra } = value;
    return call === null || typeof call === "string" ? { call, extra } : null;
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
}
