// Reasoning that a provider sealed (wire.md §8.4): it is passed on with a mark of its issuer, and sent back to that
// issuer only. An upstream always rejects another's: it is left out, together with the ids of what it led to.
import { isJsonObject } from "../../../domain/read-value.ts";
import { withoutNulls } from "../../without-nulls.ts";

const MARK = "tollgate.sealed.";
/** This pattern cannot match inside a JSON string, where quotes are escaped. */
const SEAL = /("encrypted_content"\s*:\s*")(?!")/g;

/** Returns the JSON text with each seal marked. */
export const withMarks = (text: string, issuer: string): string =>
  text.includes('"encrypted_content"') ? text.replace(SEAL, `$1${MARK}${issuer}.`) : text;

const OURS = /_[0-9a-f]{32}_\d+$/;
const CALLS: ReadonlySet<unknown> = new Set(["function_call", "custom_tool_call", "tool_search_call"]);

/** Returns items in the form in which their issuer takes them back. */
export function returnedItems(items: readonly unknown[], issuer: string): unknown[] {
  const mark = `${MARK}${issuer}.`;
  const returned: unknown[] = [];
  /** A thought was left out: what it led to must not name it. */
  let orphaned = false;
  for (const given of items) {
    if (!isJsonObject(given)) continue;
    const item = saidItem(given);
    const { type, role, encrypted_content: sealed } = item;
    if (type === "reasoning") {
      orphaned = typeof sealed !== "string" || !sealed.startsWith(mark);
      if (!orphaned) returned.push({ ...item, encrypted_content: String(sealed).slice(mark.length) });
      continue;
    }
    const said = role === "assistant" || CALLS.has(type);
    if (!said) orphaned = false;
    const { id } = item;
    const unknown = orphaned || (typeof id === "string" && OURS.test(id));
    const named = unknown ? withoutId(item) : item;
    returned.push(withShortCallId(named));
  }
  return returned;
}

/** Removes null members of an item and of its parts. */
function saidItem(given: Record<string, unknown>): Record<string, unknown> {
  const item = withoutNulls(given);
  const { content } = item;
  if (!Array.isArray(content)) return item;
  const parts = content.map((part: unknown) => (isJsonObject(part) ? withoutNulls(part) : part));
  return parts.every((part, at) => part === content[at]) ? item : { ...item, content: parts };
}

/** The vendor's maximum. Other shapes' ids may be longer; a call and its output get the same one. */
const CALL_ID_CHARACTERS_MAX = 64;

function withShortCallId(item: Record<string, unknown>): Record<string, unknown> {
  const { call_id: id } = item;
  if (typeof id !== "string" || id.length <= CALL_ID_CHARACTERS_MAX) return item;
  const short = new Bun.CryptoHasher("sha256").update(id).digest("hex").slice(0, 40);
  return { ...item, call_id: `call_${short}` };
}

function withoutId({ id: _id, ...item }: Record<string, unknown>): Record<string, unknown> {
  return item;
}
