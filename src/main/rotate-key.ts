// `db rotate-key`: a new data key for a store that no gateway has open. Everything that depends on the key
// changes in one transaction together with the store's check of it, and the new key is on disk before that.
// Whenever this is killed, the store opens with the key that it has, and the same command continues
// (docs/decisions/0083-the-data-key-changes-in-one-commit.md).
import { formerDataKeys } from "../store/data-key.ts";
import { rotatePostgres } from "./rotate-key-postgres.ts";
import { rotateSqlite } from "./rotate-key-sqlite.ts";
import type { RotateAsk, Rotation } from "./rotating.ts";

export interface RotateResult {
  /** Null if an earlier run had done everything except putting the new key in its place. */
  rotation: Rotation | null;
  /** The file that keeps the old key. */
  kept: string | null;
}

/** Throws `StoreFailure` with what to do; the store then still opens with its previous key. */
export async function rotateKey(on: RotateAsk): Promise<RotateResult> {
  const rotation = await (on.databaseUrl === null ? rotateSqlite(on) : rotatePostgres(on, on.databaseUrl));
  return { rotation, kept: formerDataKeys(on.dataDir)[0] ?? null };
}
