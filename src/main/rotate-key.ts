// `db rotate-key`: a new data key for a store that no gateway has open. All that hangs on the key changes in one transaction
// with the check that the store keeps of it, and the new key is on the disk before that: whenever this is killed, the store
// opens with the key that it has, and the same command goes on (docs/decisions/0083-the-data-key-changes-in-one-commit.md).
import { formerDataKeys } from "../store/data-key.ts";
import { rotatePostgres } from "./rotate-key-postgres.ts";
import { rotateSqlite } from "./rotate-key-sqlite.ts";
import type { RotateAsk, Rotation } from "./rotating.ts";

export interface RotateResult {
  /** Null where an earlier run had done all of it but to put the new key into its place. */
  rotation: Rotation | null;
  /** The file that the old key is kept in. */
  kept: string | null;
}

/** Throws `StoreFailure` with what to do; the store then opens with the key that it had. */
export async function rotateKey(on: RotateAsk): Promise<RotateResult> {
  const rotation = await (on.databaseUrl === null ? rotateSqlite(on) : rotatePostgres(on, on.databaseUrl));
  return { rotation, kept: formerDataKeys(on.dataDir)[0] ?? null };
}
