// What an edit makes of a key: its name and limit afterwards, and a line of the audit log for each that changed.
import { formatUsd, type NanoUsd } from "../domain/money.ts";
import { isStale, versionOf } from "../domain/row-version.ts";

/** What is left out stays as it is. */
export interface KeyEdit {
  name?: string | undefined;
  limit?: NanoUsd | null | undefined;
  /** Of the key that the edit was made on; without one it is made on any. */
  version?: string | undefined;
}

type Changed = { name: string } | { limit_usd: string | null };

interface Editable {
  name: string;
  limit: NanoUsd | null;
}

interface EditedKey extends Editable {
  lines: { action: "key.rename" | "key.limit"; before: Changed; after: Changed }[];
}

/** The key as it is when nothing else can change it. */
export function editKey(key: Editable, edit: KeyEdit): EditedKey | "changed_meanwhile" {
  if (isStale(edit.version, versionOf("key", key))) return "changed_meanwhile";
  const { name = key.name, limit = key.limit } = edit;
  const lines: EditedKey["lines"] = [];
  if (limit !== key.limit)
    lines.push({ action: "key.limit", before: printed(key.limit), after: printed(limit) });
  if (name !== key.name) lines.push({ action: "key.rename", before: { name: key.name }, after: { name } });
  return { name, limit, lines };
}

const printed = (limit: NanoUsd | null): Changed => ({
  limit_usd: limit === null ? null : formatUsd(limit),
});
