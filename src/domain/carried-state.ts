// What a provider of another shape wants back with a call, in the one place where a surface's clients keep what they do not
// read: of Messages sealed thinking (surfaces.md §4), of Responses a sealed item. It leaves under a mark that no vendor's has, and
// whoever forges one can say no more than `extra_content` of a chat completion lets everybody say.
import { parseJson } from "./parse-json.ts";
import { isJsonObject, type JsonObject } from "./read-value.ts";
import { Refusal } from "./refusals.ts";

/** No character of base64: no vendor begins so. */
const PREFIX = "tollgate:";
/** The signature of a thought that nobody signed: it says whose thought it was. */
export const UNSIGNED = `${PREFIX}unsigned`;
const STATE = `${PREFIX}state:`;
const STATE_CHARACTERS_MAX = 2 * 1024 * 1024;

/** Whether a signature or sealed thought left here, and is no vendor's. */
export const isOurs = (seal: unknown): boolean => typeof seal === "string" && seal.startsWith(PREFIX);

/** As `data` of a sealed thought in front of its call. */
export const sealedState = (extra: JsonObject): string => printSealed(STATE, extra);

/** What came back; null for what is none of ours, or not as it left. */
export const stateIn = (data: unknown): JsonObject | null => readSealed(data, STATE, STATE_CHARACTERS_MAX);

/** Text that clients keep without reading it, behind the mark of its surface. */
export const printSealed = (mark: string, state: object): string =>
  mark + Buffer.from(JSON.stringify(state)).toString("base64url");

/** The object behind the mark; null for what did not leave under it, is longer, or was forged: nothing came back. */
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
