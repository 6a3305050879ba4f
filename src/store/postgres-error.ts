// What an error of PostgreSQL means: retry the transaction, blame one operation, or stop until the
// database is back; and at the start, what to tell the operator (money.md §7, hardening.md S11).
import { isOverloaded, overloaded } from "../domain/overloaded.ts";
import { messageOf } from "../domain/error-message.ts";
import { isUntrustedCertificate } from "../lib/untrusted-certificate.ts";
import { StoreFailure, type StoreFailureReason } from "./store-failure.ts";

/**
 * `conflict`: rolled back because of another transaction, retry. `operation`: one statement was
 * refused, the database is fine. `store`: the database cannot be relied on now.
 */
export type ErrorKind = "conflict" | "operation" | "store";

const codeOf = (error: unknown): string | null =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : null;

/** Serialization, deadlock, lock timeout; and a row that was not as it was read (see `exactly` in `ledger/postgres/write.ts`). */
const CONFLICTS = new Set(["40001", "40P01", "55P03", "22012"]);
/** Data, integrity and syntax errors: the database works. */
const OPERATION = /^(0A|21|22|23|42|44|P0)/;
const SQLSTATE = /^[0-9A-Z]{5}$/;

/** Classifies by SQLSTATE; without one, a lost connection is `store`, anything else is `operation`. */
export function errorKind(error: unknown): ErrorKind {
  const code = codeOf(error);
  if (code !== null && SQLSTATE.test(code)) {
    if (CONFLICTS.has(code)) return "conflict";
    return OPERATION.test(code) ? "operation" : "store";
  }
  return isConnectionError(error) ? "store" : "operation";
}

/** True if the server explicitly refused, so what it was asked did not happen. 40003 means that the server does not know. */
export function wasRefused(error: unknown): boolean {
  const code = codeOf(error);
  return code !== null && SQLSTATE.test(code) && code !== "40003" && !/^(08|57P)/.test(code);
}

/** True if a write does not fit what is there: a row was not as it was read (see `exactly`), or breaks a table's rule. */
export const wasMisfit = (error: unknown): boolean => /^2[23]/.test(codeOf(error) ?? "");

/**
 * True if the server ended the session because its transaction was idle for too long: the transaction
 * was rolled back, and anything sent after that, above all a COMMIT, is never read.
 */
export const wasCutIdle = (error: unknown): boolean => codeOf(error) === "25P03";

/** The driver has no class for them; socket errors have a system code, the others only a message. */
const CONNECTION =
  /connection|terminated|timeout|not queryable|socket|ECONN|EPIPE|ENOTFOUND|ETIMEDOUT|EHOST/i;
/** Bugs and unreadable records, whatever their message. */
const OURS = /^(SyntaxError|TypeError|RangeError|ReferenceError|UnreadableRecord)$/;
const isConnectionError = (error: unknown): boolean =>
  error instanceof Error &&
  !("path" in error) && // a file error
  !OURS.test(error.name) && // "Unterminated string" is no terminated connection
  (CONNECTION.test(error.message) || /^E[A-Z_]+$/.test(codeOf(error) ?? "") || isUntrusted(error));

/** The server's certificate is not trusted here; the first statement was never sent. */
const isUntrusted = (error: unknown): boolean => isUntrustedCertificate(codeOf(error) ?? "");

/** Turns the error of a database that is away into a refusal for callers; returns any other error as it is. */
export const toldAway = (error: unknown): unknown =>
  errorKind(error) === "store" ? overloaded(error) : error;

/** Returns host, port and database of a URL: the parts that may be printed. */
export function placeOf(url: string): string {
  try {
    const { hostname, port, pathname } = new URL(url);
    return `${hostname}${port === "" ? "" : `:${port}`}${pathname}`;
  } catch {
    return "DATABASE_URL";
  }
}

/** The setting or option that names the database: a setting for a start, an option for a move. */
export type DatabaseSetting = "DATABASE_URL" | "--to";

/** SQLSTATE → what is wrong with the database, and what to do. */
const openings = (named: DatabaseSetting): Record<string, readonly [why: string, wayOut: string]> => ({
  "28000": [`refused the user of ${named}`, `correct ${named}, or allow that user to connect`],
  "28P01": [`refused the password of ${named}`, `correct ${named}`],
  "3D000": ["does not exist", `create it, or correct ${named}`],
  "25006": ["is read-only, possibly a standby", `${named} must name the primary`],
  "53100": ["has no space left", "free some space, then start again"],
  "42501": [
    `cannot be changed by the user of ${named}`,
    "grant that user what is missing, or let it own the tables",
  ],
  "25P03": [
    "kept ending the session of this start, because this machine stalled in the middle of it",
    "start again when the machine is less busy",
  ],
  "55P03": [
    "has been in use for more than a minute by another gateway's migration or a long transaction",
    "start again when that is done",
  ],
});

const SCHEMA: ReadonlySet<string> = new Set<StoreFailureReason>([
  "newer_schema",
  "changed_migration",
  "moving",
]);

const OF_THE_DATABASE: ReadonlySet<string> = new Set<StoreFailureReason>(["pooled", "encoding", "rights"]);

/**
 * Returns why a start failed on a database that had opened; other errors as they are. `trouble`: the ledger's reason, if
 * callers were only told to come back. A database that is full or has become read-only is reported as such, not as gone.
 */
export function lostWhileStarting(error: unknown, url: string, trouble?: string): unknown {
  if (error instanceof StoreFailure) return error;
  if (!isOverloaded(error) && errorKind(error) !== "store") return error;
  const cause = isOverloaded(error) ? (causeOf(error) ?? trouble ?? error) : error;
  return (
    knownFailure(cause, url, "DATABASE_URL") ??
    new StoreFailure(
      "lost",
      `the database ${placeOf(url)} became unavailable during the start: ${messageOf(cause)}`,
      "check that it is running, and start again",
    )
  );
}

const causeOf = (error: unknown): unknown => (error instanceof Error ? error.cause : undefined);

/** Returns the failure for the server's own code; null if the code is not known. */
function knownFailure(error: unknown, url: string, named: DatabaseSetting): StoreFailure | null {
  const known = openings(named)[codeOf(error) ?? ""];
  if (known === undefined) return null;
  const [why, wayOut] = known;
  const reason = wasCutIdle(error) ? "lost" : "database";
  return new StoreFailure(reason, `the database ${placeOf(url)} ${why} (${messageOf(error)})`, wayOut);
}

/** The failure for a certificate that is not trusted, or a file of the address's TLS settings that cannot be read; else null. */
function tlsFailure(error: unknown, url: string, named: DatabaseSetting): StoreFailure | null {
  if (isUntrusted(error))
    return new StoreFailure(
      "database",
      `the certificate of the database ${placeOf(url)} is not trusted: ${messageOf(error)}`,
      `name its authority: sslrootcert=FILE in ${named}, or NODE_EXTRA_CA_CERTS=FILE`,
    );
  if (!(error instanceof Error) || !("path" in error) || !/[?&]ssl(?:root)?(?:cert|key)=/.test(url))
    return null;
  return new StoreFailure(
    "database",
    `a file of the TLS settings of ${named} cannot be read: ${messageOf(error)}`,
    `correct sslrootcert, sslcert or sslkey in ${named}`,
  );
}

/** Returns why the database did not open, and what to do; other errors come back as they are. */
export function openingFailure(error: unknown, url: string, named: DatabaseSetting): unknown {
  const place = placeOf(url);
  if (error instanceof StoreFailure) {
    const { reason, why, wayOut } = error;
    if (OF_THE_DATABASE.has(reason)) return new StoreFailure(reason, `the database ${place} ${why}`, wayOut);
    return SCHEMA.has(reason) ? new StoreFailure(reason, `${place}: ${why}`, wayOut) : error;
  }
  const known = knownFailure(error, url, named);
  if (known !== null) return known;
  const outside = tlsFailure(error, url, named);
  if (outside !== null) return outside;
  if (errorKind(error) !== "store") return error;
  const setting = named === "DATABASE_URL" ? "DATABASE_URL, or database_url of tollgate.yaml," : named;
  return new StoreFailure(
    "database",
    `the database ${place} cannot be reached: ${messageOf(error)}`,
    `check ${setting} and that it is running`,
  );
}
