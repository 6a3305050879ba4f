// What a provider of another shape wants back with a call, in the one place where clients of this surface keep what they do
// not read: sealed thinking (surfaces.md §4). It leaves under a prefix that no vendor's signature has, and whoever forges
// one can say no more than `extra_content` of a chat completion lets everybody say.
import { parseJson } from "./parse-json.ts";
import { isJsonObject } from "./read-value.ts";

/** No character of base64: no vendor begins so. */
const PREFIX = "tollgate:";
/** The signature of a thought that nobody signed: it says whose thought it was. */
export const UNSIGNED = `${PREFIX}unsigned`;
const STATE = `${PREFIX}state:`;
const STATE_CHARACTERS_MAX = 2 * 1024 * 1024;

/** Whether a signature or sealed thought left here, and is no vendor's. */
export const isOurs = (seal: unknown): boolean => typeof seal === "string" && seal.startsWith(PREFIX);

/** As `data` of a sealed thought in front of its call. */
export const sealedState = (extra: Record<string, unknown>): string =>
  STATE + Buffer.from(JSON.stringify(extra)).toString("base64url");

/** What came back; null for what is none of ours, or not as it left. */
export function stateIn(data: unknown): Record<string, unknown> | null {
  if (typeof data !== "string" || !data.startsWith(STATE) || data.length > STATE_CHARACTERS_MAX) return null;
  try {
    const state = parseJson(Buffer.from(data.slice(STATE.length), "base64url"));
    return isJsonObject(state) ? state : null;
  } catch {
    return null; // a forgery: nothing came back
  }
}
