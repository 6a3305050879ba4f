// How the store is doing: its schema, how fast it commits, its upkeep, and on PostgreSQL the gateways that share it.
import type { AppAnswer } from "../../contract/app.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Backup } from "../../store/last-backup.ts";
import { numberOf, type Sql, textOf } from "../../store/sql.ts";

type Health = AppAnswer<"GET /operator/health">;
type Mine = Pick<
  Health,
  "schema_version" | "last_sweep_at" | "backup" | "clock_offset_ms" | "commits" | "gateways"
>;

const BACKUP_WITHIN_MS = 7 * 86_400_000;

export interface StoreHealthPorts {
  /** What `db backup` last wrote from this gateway's directory. */
  lastBackup: () => Backup | null;
  sql: Sql;
  clock: Clock;
  ledger: Pick<Ledger, "pulse">;
}

export async function storeHealth({ sql, clock, ledger, lastBackup }: StoreHealthPorts): Promise<Mine> {
  const [schema] = await sql.rows("SELECT max(version) AS version FROM schema_migration");
  const { waiting, commits, operationsPerCommit, commitMs, sweptAtMs } = ledger.pulse();
  return {
    schema_version: numberOf(schema?.["version"] ?? 0),
    last_sweep_at: sweptAtMs === null ? null : time(sweptAtMs),
    backup: sql.dialect === "sqlite" ? backupState(lastBackup(), clock.nowMs()) : null,
    clock_offset_ms: sql.dialect === "sqlite" ? null : await clockOffsetMs(sql),
    commits: {
      waiting,
      of: commits,
      operations_mean: operationsPerCommit?.mean ?? null,
      operations_most: operationsPerCommit?.most ?? null,
      ms_p50: commitMs?.p50 ?? null,
      ms_p99: commitMs?.p99 ?? null,
    },
    gateways: sql.dialect === "sqlite" ? [] : await gateways(sql, clock),
  };
}

const backupState = (last: Backup | null, nowMs: number): Health["backup"] => ({
  last_at: last === null ? null : time(last.atMs),
  bytes: last?.bytes ?? null,
  overdue: last === null || nowMs - last.atMs > BACKUP_WITHIN_MS,
});

/** The database answered somewhere between the question and its answer: in the middle, as far as anybody knows. */
async function clockOffsetMs(sql: Sql): Promise<number> {
  const askedMs = Date.now();
  const [row] = await sql.rows("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now");
  return Math.round((askedMs + Date.now()) / 2 - numberOf(row?.["now"]));
}

/** Whose lease was neither given back nor taken away. */
async function gateways(sql: Sql, clock: Clock): Promise<Health["gateways"]> {
  const rows = await sql.rows(
    `SELECT name, started_at, lease_until FROM instance
     WHERE NOT condemned AND lease_until > 0 ORDER BY started_at, name`,
  );
  return rows.map((row) => {
    const untilMs = numberOf(row["lease_until"]);
    return {
      name: textOf(row["name"]),
      started_at: time(numberOf(row["started_at"])),
      lease_until: time(untilMs),
      valid: untilMs > clock.nowMs(),
    };
  });
}

const time = (ms: number): string => new Date(ms).toISOString();
