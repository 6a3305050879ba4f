// Members of an option that are not read here: left out, and listed with everything else that was not applied (wire.md §1).
import { clip, isPresent, type JsonObject } from "../../domain/read-value.ts";

/** More are not listed: a header is no place for a body's worth of names. */
const NAMED_MAX = 8;

/** Their paths; `null` counts as absent, as everywhere. */
export function unreadMembers(path: string, option: JsonObject, read: readonly string[]): string[] {
  const found: string[] = [];
  for (const name of Object.keys(option)) {
    if (read.includes(name) || !isPresent(option[name])) continue;
    found.push(`${path}.${clip(name)}`);
    if (found.length === NAMED_MAX) break;
  }
  return found;
}
