// What an edit makes of a key, the same on both stores: its name and limit afterwards, and a line of the audit log for
// each that changed.
import { formatUsd, type NanoUsd } from "../contract/money.ts";
import { isStale, versionOf } from "../contract/version.ts";
import type { KeyRecord } from "./ledger.ts";
import { printedValue } from "./sqlite-audit-log.ts";

/** What is left out stays as it is. */
export interface KeyEdit {
  name?: string | undefined;
  limit?: NanoUsd | null | undefined;
  /** Of the key that the edit was made on; without one it is made on any. */
  version?: string | undefined;
}

interface EditedKey {
  name: string;
  limit: NanoUsd | null;
  lines: { action: "key.rename" | "key.limit"; before: string; after: string }[];
}

/** The key as it is when nothing else can change it. */
export function editKey(key: KeyRecord, edit: KeyEdit): EditedKey | "changed_meanwhile" {
  if (isStale(edit.version, versionOf("key", key))) return "changed_meanwhile";
  const { name = key.name, limit = key.limit } = edit;
  const lines: EditedKey["lines"] = [];
  if (limit !== key.limit)
    lines.push({ action: "key.limit", before: limitText(key.limit), after: limitText(limit) });
  if (name !== key.name)
    lines.push({
      action: "key.rename",
      before: printedValue({ name: key.name }),
      after: printedValue({ name }),
    });
  return { name, limit, lines };
}

const limitText = (limit: NanoUsd | null): string =>
  printedValue({ limit_usd: limit === null ? null : formatUsd(limit) });
