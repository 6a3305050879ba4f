// Why a store refuses to open or to continue, and what to do about it; the command line prints both and exits 1
// (hardening.md S11).

export type StoreFailureReason =
  | "locked"
  | "permissions"
  | "newer_schema"
  | "changed_migration"
  | "data_key"
  | "disk_full"
  | "settings"
  | "moving"
  | "restoring"
  | "pooled"
  | "encoding"
  | "rights"
  | "database"
  /** A connection was lost in the middle: the same start may succeed at once. */
  | "lost";

/**
 * The message has both parts, for operators, and is printed unchanged. A command with another remedy states its own.
 */
export class StoreFailure extends Error {
  constructor(
    readonly reason: StoreFailureReason,
    /** What is wrong, as a clause: begins in lower case, without a full stop. */
    readonly why: string,
    /** What to do, as another such clause. */
    readonly wayOut: string,
  ) {
    super(`${why}; ${wayOut}`);
    this.name = "StoreFailure";
  }
}
