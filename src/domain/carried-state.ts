// State that a provider of another shape wants back with a call, kept in a field that the surface's clients return unread: sealed
// thinking in Messages (surfaces.md §4), a sealed item in Responses. It carries a mark that no vendor uses. A forged one can say no
// more than `extra_content` of a chat completion, which anybody may send.
import { parseJson } from "./parse-json.ts";
import { isJsonObject, type JsonObject } from "./read-value.ts";
import { Refusal } from "./refusals.ts";

/** The colon is not a base64 character, so no vendor's text begins like this. */
const PREFIX = "tollgate:";
/** The signature of a thought that nobody signed: it marks the thought as ours. */
export const UNSIGNED = `${PREFIX}unsigned`;
const STATE = `${PREFIX}state:`;
const STATE_CHARACTERS_MAX = 2 * 1024 * 1024;

/** Whether a signature or sealed thought was made here, not by a vendor. */
export const isOurs = (seal: unknown): boolean => typeof seal === "string" && seal.startsWith(PREFIX);

/** The `data` of a sealed thought in front of its call. */
export const sealedState = (extra: JsonObject): string => printSealed(STATE, extra);

/** Reads state that came back; null if it is not ours or was altered. */
export const stateIn = (data: unknown): JsonObject | null => readSealed(data, STATE, STATE_CHARACTERS_MAX);

/** Text that clients keep without reading it, prefixed with the mark of its surface. */
export const printSealed = (mark: string, state: object): string =>
  mark + Buffer.from(JSON.stringify(state)).toString("base64url");

/** Returns the object behind the mark; null if the text lacks the mark, is too long or was forged. */
export function readSealed(text: unknown, mark: string, charactersMax: number): JsonObject | null {
  if (typeof text !== "string" || !text.startsWith(mark) || text.length > charactersMax) return null;
  try {
    const state = parseJson(Buffer.from(text.slice(mark.length), "base64url"));
    return isJsonObject(state) ? state : null;
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
}
