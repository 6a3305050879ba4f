// Public halves of the keys that signed receipts before the data key was changed, so that those receipts verify for good.
import { ask, type Query, type SqlRow, textOf } from "../store/sql.ts";

/** An Ed25519 public key as a JWK has it. */
export interface ReceiptKey {
  kid: string;
  x: string;
}

/** The newest first. */
export function* formerReceiptKeys(): Query<ReceiptKey[]> {
  const rows = yield* ask("SELECT kid, x FROM receipt_key ORDER BY retired_at DESC, kid");
  return rows.flatMap(readable);
}

/** One that is damaged is left out: the receipts of the others verify all the same. */
function readable(row: SqlRow): ReceiptKey[] {
  try {
    return [{ kid: textOf(row["kid"]), x: textOf(row["x"]) }];
  } catch {
    return [];
  }
}

/** It signs no more. */
export function* retireReceiptKey({ kid, x }: ReceiptKey, atMs: number): Query<void> {
  yield* ask(
    "INSERT INTO receipt_key (kid, x, retired_at) VALUES (?1, ?2, ?3) ON CONFLICT (kid) DO UPDATE SET retired_at = excluded.retired_at",
    [kid, x, atMs],
  );
}

/** What they signed is proof of nothing any more: whoever has a key that leaked signs the same. */
export function* forgetReceiptKeys(): Query<void> {
  yield* ask("DELETE FROM receipt_key");
}
