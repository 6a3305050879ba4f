// The store under the gateways, as the harness needs it: what belongs into their settings, how it is hurt, and its rows
// at the end.
import type { PostgresStore } from "./postgres-store.ts";
import type { SqliteStore } from "./sqlite-store.ts";

export interface RequestRow {
  organizationId: string;
  requestId: string;
  keyId: string;
  idempotencyKey: string | null;
  model: string;
  stream: boolean;
  state: "admitted" | "dispatched" | "settled" | "released";
  admittedAtMs: number;
  endedAtMs: number | null;
  month: string;
  releaseDigest: string;
  hold: bigint;
  charge: bigint;
  variance: bigint;
  evidence: string | null;
  promptTokens: number | null;
  completionTokens: number | null;
  outputBound: number;
  errorCode: string | null;
  /** In the order in which the transactions of the organization took effect. */
  openedTxn: number;
  closedTxn: number | null;
}

export interface StoreUnderTest {
  /** Lines of `tollgate.yaml`. */
  readonly settings: string;
  /** Somebody else holds the lock that every write needs. */
  lock(ms: number): Promise<void>;
  /** How many requests have not ended. */
  unfinished(): Promise<number>;
  requests(): Promise<RequestRow[]>;
  close(): Promise<void>;
}

export type Store = SqliteStore | PostgresStore;

/** As a driver hands it out. */
export type StoredRow = Record<string, string | bigint | boolean | null>;

export function readRow(row: StoredRow): RequestRow {
  const text = (name: string): string => String(row[name]);
  const textOrNull = (name: string): string | null => (row[name] === null ? null : text(name));
  const count = (name: string): number => Number(row[name]);
  const countOrNull = (name: string): number | null => (row[name] === null ? null : count(name));
  return {
    organizationId: text("org_id"),
    requestId: text("request_id"),
    keyId: text("key_id"),
    idempotencyKey: textOrNull("idem_key"),
    model: text("model"),
    stream: row["stream"] === 1n || row["stream"] === true,
    state: text("state") as RequestRow["state"],
    admittedAtMs: count("admitted_at"),
    endedAtMs: countOrNull("ended_at"),
    month: text("month"),
    releaseDigest: text("release_digest"),
    hold: BigInt(text("hold")),
    charge: BigInt(text("charge")),
    variance: BigInt(text("variance")),
    evidence: textOrNull("evidence"),
    promptTokens: countOrNull("prompt_tokens"),
    completionTokens: countOrNull("completion_tokens"),
    outputBound: count("output_bound"),
    errorCode: textOrNull("error_code"),
    openedTxn: count("opened_txn"),
    closedTxn: countOrNull("closed_txn"),
  };
}
