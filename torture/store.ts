// The store under the gateways, as the harness needs it: its settings, how it is disturbed, and its rows at the end.

export interface RequestRow {
  organizationId: string;
  requestId: string;
  keyId: string;
  idempotencyKey: string | null;
  model: string;
  stream: boolean;
  state: "dispatched" | "settled" | "released";
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
  /** Tokens that the provider reported beyond the quoted bounds, in and out together; null if none. */
  toldTokens: number | null;
  promptBound: number;
  outputBound: number;
  errorCode: string | null;
  /** In the order in which the organization's transactions took effect. */
  openedTxn: number;
  closedTxn: number | null;
}

export interface StoreUnderTest {
  /** Lines of `tollgate.yaml`. */
  readonly settings: string;
  /** Another process holds the lock that every write needs. */
  lock(ms: number): Promise<void>;
  /** Flips one bit in the stored stream of an unfinished request; returns the request's id, null if there is none. */
  rot(): Promise<string | null>;
  /** The number of unfinished requests, without those that wait for an operator. */
  unfinished(): Promise<number>;
  requests(): Promise<RequestRow[]>;
  close(): Promise<void>;
}

/** The number of unfinished requests that wait for nobody. */
export const UNFINISHED = `
  SELECT count(*) AS n FROM request r
  WHERE r.closed_txn IS NULL AND NOT EXISTS (
    SELECT 1 FROM quarantine q
    WHERE q.org_id = r.org_id AND q.request_id = r.request_id AND q.decided_at IS NULL)`;

/** Flips one bit in the middle of the sealed bytes. */
export function flipped(sealed: Uint8Array): Uint8Array {
  const rotten = Uint8Array.from(sealed);
  const at = rotten.length >> 1;
  rotten[at] = (rotten[at] ?? 0) ^ 1;
  return rotten;
}

/** As the driver returns it. */
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
    toldTokens: toldIn(text("attempts")),
    promptBound: count("prompt_bound"),
    outputBound: count("output_bound"),
    errorCode: textOrNull("error_code"),
    openedTxn: count("opened_txn"),
    closedTxn: countOrNull("closed_txn"),
  };
}

function toldIn(attempts: string): number | null {
  type Told = { told?: { promptTokens: number; completionTokens: number } };
  const { told } = (JSON.parse(attempts) as Told[]).at(-1) ?? {};
  return told === undefined ? null : told.promptTokens + told.completionTokens;
}
