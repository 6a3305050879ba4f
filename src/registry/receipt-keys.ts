// Public halves of the keys that signed receipts before the data key was changed, so that those receipts can
// be verified forever.
import { ask, type Query, type SqlRow, textOf } from "../store/sql.ts";

/** An Ed25519 public key in JWK fields. */
export interface ReceiptKey {
  kid: string;
  x: string;
}

/** Newest first. */
export function* formerReceiptKeys(): Query<ReceiptKey[]> {
  const rows = yield* ask("SELECT kid, x FROM receipt_key ORDER BY retired_at DESC, kid");
  return rows.flatMap(readable);
}

/** A damaged key is skipped: the receipts of the others can still be verified. */
function readable(row: SqlRow): ReceiptKey[] {
  try {
    return [{ kid: textOf(row["kid"]), x: textOf(row["x"]) }];
  } catch {
    return [];
  }
}

/** Stores a key that no longer signs. */
export function* retireReceiptKey({ kid, x }: ReceiptKey, atMs: number): Query<void> {
  yield* ask(
    "INSERT INTO receipt_key (kid, x, retired_at) VALUES (?1, ?2, ?3) ON CONFLICT (kid) DO UPDATE SET retired_at = excluded.retired_at",
    [kid, x, atMs],
  );
}

/** Their signatures no longer prove anything: anybody with a leaked key can sign. */
export function* forgetReceiptKeys(): Query<void> {
  yield* ask("DELETE FROM receipt_key");
}
