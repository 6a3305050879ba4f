// Why a store refuses to open or to continue. Every message says what to do next; the command line
// prints it and exits 1 (hardening.md S11).

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
  | "database";

/** `message` is for operators and complete: it is printed as it stands. */
export class StoreFailure extends Error {
  constructor(
    readonly reason: StoreFailureReason,
    message: string,
  ) {
    super(message);
    this.name = "StoreFailure";
  }
}
