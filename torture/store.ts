// The store under the gateways, as the harness needs it: what belongs into their settings, how it is hurt, and its rows
// at the end. The SQLite store is the one there is; a database with replicas is another implementation of `Store`, and
// its world starts more gateways (docs/torture.md, "PostgreSQL").
import { Database } from "bun:sqlite";
import { join } from "node:path";

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
  openedTxn: number;
  closedTxn: number | null;
}

export interface Store {
  /** Lines of `tollgate.yaml`. */
  readonly settings: string;
  /** Somebody else holds the lock that every write needs. */
  lock(ms: number): Promise<void>;
  requests(): Promise<RequestRow[]>;
}

type Row = Record<string, string | bigint | null>;

export class SqliteStore implements Store {
  readonly settings = "";

  constructor(private readonly dataDir: string) {}

  async lock(ms: number): Promise<void> {
    const database = this.open();
    try {
      database.run("PRAGMA busy_timeout = 1000");
      database.run("BEGIN IMMEDIATE");
      await Bun.sleep(ms);
      database.run("ROLLBACK");
    } finally {
      database.close();
    }
  }

  async requests(): Promise<RequestRow[]> {
    const database = this.open();
    try {
      return (database.query("SELECT * FROM request ORDER BY admitted_at, request_id").all() as Row[]).map(
        read,
      );
    } finally {
      database.close();
    }
  }

  private open(): Database {
    return new Database(join(this.dataDir, "tollgate.sqlite"), { readwrite: true, safeIntegers: true });
  }
}

function read(row: Row): RequestRow {
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
    stream: row["stream"] === 1n,
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
