// The state of the store: its schema, commit times, upkeep, and on PostgreSQL the gateways that share it.
import type * as platformShapes from "../api/shapes/platform.ts";
import type { z } from "zod";
import type { Ledger } from "../ledger/ledger.ts";
import type { Clock } from "../lib/clock.ts";
import { type Backup, isOverdue } from "../store/last-backup.ts";
import { from, rowsOf, theRow } from "../store/query.ts";
import { numberOf, type Sql } from "../store/sql.ts";
import { printTime, printTimeOrNull } from "../domain/print.ts";

type Health = z.output<typeof platformShapes.health>;
type Mine = Pick<
  Health,
  "schema_version" | "last_sweep_at" | "backup" | "clock_offset_ms" | "commits" | "gateways"
>;

export interface StoreHealthPorts {
  /** The last backup of `db backup` in this gateway's directory. */
  lastBackup: () => Backup | null;
  sql: Sql;
  clock: Clock;
  ledger: Pick<Ledger, "pulse">;
}

/**
 * Commit figures cover the last commits, and are null before the first; whatever only one of the two stores
 * has is null or empty for the other.
 */
export async function storeHealth({ sql, clock, ledger, lastBackup }: StoreHealthPorts): Promise<Mine> {
  const { waiting, commits, operationsPerCommit, commitMs, sweptAtMs } = ledger.pulse();
  return {
    schema_version: await schemaVersion(sql),
    last_sweep_at: printTimeOrNull(sweptAtMs),
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
  last_at: printTimeOrNull(last?.atMs ?? null),
  bytes: last?.bytes ?? null,
  overdue: isOverdue(last, nowMs),
});

/** The database read its clock somewhere between the query and the response: assumed in the middle. */
async function clockOffsetMs(sql: Sql): Promise<number> {
  const askedMs = Date.now();
  const [row] = await sql.rows("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now");
  return Math.round((askedMs + Date.now()) / 2 - numberOf(row?.["now"]));
}

/** Those whose lease was neither returned nor taken away. */
async function gateways(sql: Sql, clock: Clock): Promise<Health["gateways"]> {
  const query = from
    .selectFrom("instance")
    .select(["name", "started_at", "lease_until"])
    .where("condemned", "=", false)
    .where("lease_until", ">", 0n)
    .orderBy("started_at")
    .orderBy("name");
  return (await rowsOf(sql, query)).map((row) => ({
    name: row.name,
    started_at: printTime(row.started_at),
    lease_until: printTime(row.lease_until),
    valid: row.lease_until > clock.nowMs(),
  }));
}

/** The version of the newest migration that ran. */
export async function schemaVersion(sql: Sql): Promise<number> {
  const query = from
    .selectFrom("schema_migration")
    .select((eb) => eb.fn.max<bigint | null>("version").as("version"));
  return Number((await theRow(sql, query)).version ?? 0n);
}
