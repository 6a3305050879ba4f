// Finds the place of an instant in an organization's ledger. Entries are numbered without gaps and stamped in
// that order (money.md §2), so their primary key serves as an index of their times: a handful of lookups
// instead of an index that every entry would pay for.
import { missingBalance } from "../ledger/unreadable.ts";
import { from, rowOf, rowsOf } from "../store/query.ts";
import type { Sql } from "../store/sql.ts";
import type { Tables } from "../store/tables.ts";

/** The number of entries read by one statement: a few milliseconds, after which other work gets its turn. */
export const PIECE = 2_500n;

/**
 * Yields to the event loop between two pieces: if the store runs on this thread, nothing else would get a
 * turn.
 */
export const othersTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const entries = (organizationId: string) =>
  from.selectFrom("ledger_entry").where("org_id", "=", organizationId).where("slot", "=", 0n);

/**
 * The number of the first entry at or after this instant; `newest + 1` if there is none. Probes the same
 * numbers however many entries there are: if a clock went back between two of them, the result stays the same
 * over time.
 */
export async function firstEntrySince(
  sql: Sql,
  organizationId: string,
  { ms, newest }: { ms: number; newest: bigint },
): Promise<bigint> {
  let [low, high] = [1n, 1n << BigInt(newest.toString(2).length)];
  while (low < high) {
    const middle = (low + high) / 2n;
    const at = middle > newest ? undefined : await stampOf(sql, organizationId, middle);
    if (at !== undefined && at < BigInt(ms)) low = middle + 1n;
    else high = middle;
  }
  return low;
}

/**
 * The time of an entry; if it lies outside its neighbours' times, which are in order, the earlier
 * neighbour's: a single damaged time does not mislead the search.
 */
async function stampOf(sql: Sql, organizationId: string, version: bigint): Promise<bigint | undefined> {
  const near = entries(organizationId)
    .select(["version", "at"])
    .where("version", ">=", version - 1n)
    .where("version", "<=", version + 1n);
  const stamps = new Map((await rowsOf(sql, near)).map((row) => [row.version, row.at]));
  const [before, own, after] = [-1n, 0n, 1n].map((step) => stamps.get(version + step));
  if (before === undefined || own === undefined || after === undefined) return own;
  return before <= after && (own < before || own > after) ? before : own;
}

export type StoredEntry = Tables["ledger_entry"];

/** The entry with this number in the organization's chain. */
export const entryNumbered = (
  sql: Sql,
  organizationId: string,
  version: bigint,
): Promise<StoredEntry | undefined> =>
  rowOf(sql, entries(organizationId).selectAll().where("version", "=", version));

/** From one number to another, both included. */
export const entriesWithin = (organizationId: string, [first, last]: readonly [bigint, bigint]) =>
  entries(organizationId).where("version", ">=", first).where("version", "<=", last);

/** The same entries, in order. */
export const entriesBetween = (
  sql: Sql,
  organizationId: string,
  bounds: readonly [bigint, bigint],
): Promise<StoredEntry[]> =>
  rowsOf(sql, entriesWithin(organizationId, bounds).selectAll().orderBy("version"));

/** The highest stored number within the bounds, whatever the balance says. */
export async function lastEntry(
  sql: Sql,
  organizationId: string,
  bounds: readonly [bigint, bigint],
): Promise<bigint | null> {
  const query = entriesWithin(organizationId, bounds).select("version").orderBy("version", "desc").limit(1);
  return (await rowOf(sql, query))?.version ?? null;
}

/** The number of the last entry. */
export async function newestEntry(sql: Sql, organizationId: string): Promise<bigint> {
  const query = from
    .selectFrom("org_balance")
    .select("version")
    .where("org_id", "=", organizationId)
    .where("slot", "=", 0n);
  const row = await rowOf(sql, query);
  if (row === undefined) throw missingBalance(organizationId);
  return row.version;
}

/** The entries of a transaction whose time is unknown, between two others. */
export const transactionBetween = (
  sql: Sql,
  organizationId: string,
  { txn, first, last }: { txn: bigint; first: bigint; last: bigint },
): Promise<StoredEntry[]> =>
  rowsOf(
    sql,
    entriesWithin(organizationId, [first, last])
      .selectAll()
      .where("txn", "=", txn)
      .orderBy("version")
      .limit(Number(OF_ONE_INSTANT)),
  );

/** More entries than can share a millisecond, even of several transactions. */
const OF_ONE_INSTANT = 512n;

/** The entries of a transaction with this stamp; empty if the stamps are out of order. */
export async function entriesOfTransaction(
  sql: Sql,
  organizationId: string,
  { txn, ms, newest }: { txn: bigint; ms: number; newest: bigint },
): Promise<StoredEntry[]> {
  const first = await firstEntrySince(sql, organizationId, { ms, newest });
  return rowsOf(
    sql,
    entries(organizationId)
      .selectAll()
      .where("version", ">=", first)
      .where("version", "<", first + OF_ONE_INSTANT)
      .where("txn", "=", txn)
      .orderBy("version"),
  );
}
