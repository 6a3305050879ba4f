// Balance rows outside a batch, the same on both stores. They are created with their organization, read for display,
// and locked by every change to what admission reads, so that each organization has one order of events (money.md §7).
import { ask, lock, moneyOf, numberOf, placesFrom, type Query, type SqlRow, textOf } from "../store/sql.ts";
import { CHAIN_START } from "./entry-hash.ts";
import type { BalanceRecord } from "./records.ts";

/** Creates the balance of a new organization, all zeros. */
export function* openBalance(organizationId: string, nowMs: number): Query<void> {
  yield* ask(
    `INSERT INTO org_balance (org_id, slot, available, held, debt, purchased, granted, spent, version, head_hash, stamped_at)
     VALUES (?1, 0, 0, 0, 0, 0, 0, 0, 0, ?2, ?3)`,
    [organizationId, CHAIN_START, nowMs],
  );
}

const FIGURES =
  "SELECT org_id, available, held, spent, purchased, granted, debt FROM org_balance WHERE slot = 0";

/** Returns null if there is no such organization. */
export function* findBalance(organizationId: string): Query<BalanceRecord | null> {
  const [row] = yield* ask(`${FIGURES} AND org_id = ?1`, [organizationId]);
  return row === undefined ? null : balanceOf(row);
}

/** Returns the balances of those organizations that exist. */
export function* findBalances(organizationIds: readonly string[]): Query<Map<string, () => BalanceRecord>> {
  const rows = yield* ask(`${FIGURES} AND org_id IN (${placesFrom(1, organizationIds)})`, organizationIds);
  return new Map(rows.map((row) => [textOf(row["org_id"]), () => balanceOf(row)]));
}

function balanceOf(row: SqlRow): BalanceRecord {
  const purchased = moneyOf(row["purchased"]);
  return {
    organizationId: textOf(row["org_id"]),
    available: moneyOf(row["available"]),
    held: moneyOf(row["held"]),
    spent: moneyOf(row["spent"]),
    purchased,
    granted: moneyOf(row["granted"]),
    debt: moneyOf(row["debt"]),
    paidWorkspace: purchased > 0n,
  };
}

const STAMP = "SELECT stamped_at FROM org_balance WHERE org_id = ?1 AND slot = 0";

/** Locks the organization's balance until the end of the transaction and returns its newest stamp; null if it does not exist. */
export function* lockOrganization(organizationId: string): Query<number | null> {
  const [row] = yield* lock(STAMP, [organizationId]);
  return row === undefined ? null : numberOf(row["stamped_at"]);
}

/** Ensures that nothing of the organization is stamped before this time from now on. Requires its lock. */
export function* moveStamp(organizationId: string, atMs: number): Query<void> {
  yield* ask("UPDATE org_balance SET stamped_at = ?2 WHERE org_id = ?1 AND slot = 0 AND stamped_at < ?2", [
    organizationId,
    atMs,
  ]);
}

/** Returns the newest stamp of each organization that exists. */
export function* newestStamps(organizationIds: readonly string[]): Query<Map<string, number>> {
  const rows = yield* ask(
    `SELECT org_id, stamped_at FROM org_balance WHERE slot = 0 AND org_id IN (${placesFrom(1, organizationIds)})`,
    organizationIds,
  );
  return new Map(rows.map((row) => [textOf(row["org_id"]), numberOf(row["stamped_at"])]));
}

/** Returns the organization's newest stamp; 0 if there is no such organization. */
export function* newestStampMs(organizationId: string): Query<number> {
  const [row] = yield* ask(STAMP, [organizationId]);
  return row === undefined ? 0 : numberOf(row["stamped_at"]);
}
