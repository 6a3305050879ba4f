// Keeps receipts verifiable that were signed after the backup was made: carries over the published halves of
// their keys.
import type { Database } from "bun:sqlite";
import type { ReceiptKey } from "../registry/receipt-keys.ts";
import { columnNames, type Restoring } from "./restoring.ts";

const KEEP = "INSERT OR IGNORE INTO receipt_key (kid, x, retired_at) VALUES (?1, ?2, ?3)";

/** A store with an older schema keeps none. */
const keepsThem = (database: Database): boolean => columnNames(database, "receipt_key").length > 0;

/** Adds to the backup's copy the keys that the replaced store had retired. */
export function keepReceiptKeys({ copy, replaced }: Restoring): void {
  if (!keepsThem(copy) || !keepsThem(replaced)) return;
  const keep = copy.query(KEEP);
  for (const row of replaced.query("SELECT kid, x, retired_at FROM receipt_key").values())
    keep.run(...(row as [string, string, bigint]));
}

/** Adds the key that the replaced store signed with, if the backup has another data key. */
export function keepReceiptKey(copy: Database, { kid, x }: ReceiptKey): void {
  if (keepsThem(copy)) copy.query(KEEP).run(kid, x, Date.now());
}
