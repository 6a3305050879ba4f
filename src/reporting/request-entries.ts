// The ledger entries of a request, and the requests in an entry. Rows of both name the transaction that wrote
// them; entries are found by their time, requests by their ids, which begin with theirs, so no index is
// needed.
import type * as shapes from "../api/shapes/evidence.ts";
import type { z } from "zod";
import { addUsd, formatUsd, type NanoUsd, subUsd, ZERO_USD } from "../domain/money.ts";
import { printTime } from "../domain/print.ts";
import { notFound } from "../domain/unknown-record.ts";
import { from, rowOf, rowsOf } from "../store/query.ts";
import type { Sql } from "../store/sql.ts";
import type { Tables } from "../store/tables.ts";
import { numberedCursor } from "./cursors.ts";
import type { LabelBook } from "./labels.ts";
import {
  entriesOfTransaction,
  entryNumbered,
  newestEntry,
  type StoredEntry,
  transactionBetween,
} from "./ledger-place.ts";
import { refundsOf } from "./refunds.ts";
import { sinceRequest } from "./request-time.ts";

type EntryRecord = z.output<typeof shapes.entryRecord>;
type OwnEntries = z.output<typeof shapes.requestEntryList>;
type EntryDetail = z.output<typeof shapes.ledgerEntryDetail>;

const COLUMNS = [
  "request_id",
  "key_id",
  "model",
  "state",
  "hold",
  "lowered",
  "charge",
  "variance",
  "admitted_at",
  "ended_at",
  "opened_txn",
  "lowered_txn",
  "closed_txn",
] as const;
type Moved = Pick<Tables["request"], (typeof COLUMNS)[number]>;
type Transaction = "opened_txn" | "lowered_txn" | "closed_txn";

/**
 * The amount that a request moves in an entry of each kind, and in which of its transactions (I6 of money.md
 * §5).
 */
const MOVED: Partial<Record<string, { txn: Transaction; amount: (row: Moved) => NanoUsd }>> = {
  hold: { txn: "opened_txn", amount: ({ hold, lowered }) => addUsd(hold, lowered) },
  lower: { txn: "lowered_txn", amount: ({ lowered }) => lowered },
  charge: { txn: "closed_txn", amount: ({ charge }) => charge },
  rest: {
    txn: "closed_txn",
    amount: ({ state, hold, charge }) => (state === "settled" ? subUsd(hold, charge) : ZERO_USD),
  },
  void: { txn: "closed_txn", amount: ({ state, hold }) => (state === "released" ? hold : ZERO_USD) },
  variance: { txn: "closed_txn", amount: ({ variance }) => variance },
};

/** True if requests make entries of this kind. */
export const isOfRequests = (kind: string): boolean => Object.hasOwn(MOVED, kind);

const movedBy = (entry: StoredEntry, row: Moved): NanoUsd => {
  const moved = MOVED[entry.kind];
  return moved === undefined || row[moved.txn] !== entry.txn ? ZERO_USD : moved.amount(row);
};

/** Every figure of an entry, as covered by its hash. */
export const entryRecordOf = (row: StoredEntry): EntryRecord => ({
  org: row.org_id,
  slot: Number(row.slot),
  n: Number(row.version),
  txn: Number(row.txn),
  kind: row.kind,
  debit: row.debit,
  credit: row.credit,
  amount_usd: formatUsd(row.amount),
  available_before_usd: formatUsd(row.available_before),
  available_after_usd: formatUsd(row.available_after),
  held_before_usd: formatUsd(row.held_before),
  held_after_usd: formatUsd(row.held_after),
  requests: Number(row.requests),
  at: printTime(row.at),
  reference: row.reference,
  prev_hash: Buffer.from(row.prev_hash).toString("hex"),
  hash: Buffer.from(row.hash).toString("hex"),
});

/** An entry covers a whole batch: `amount` is the part that this request moved, in nano-USD. */
export interface OwnEntry {
  entry: StoredEntry;
  /** This request's part of it. */
  amount: NanoUsd;
}

/** The entries of one request in order. Throws if the organization has no such request. */
export async function entriesOfRequest(
  sql: Sql,
  organizationId: string,
  requestId: string,
): Promise<OwnEntry[]> {
  const query = from
    .selectFrom("request")
    .select(COLUMNS)
    .where("org_id", "=", organizationId)
    .where("request_id", "=", requestId);
  const row = await rowOf(sql, query);
  if (row === undefined) throw notFound("request");
  const newest = await newestEntry(sql, organizationId);
  const written = async (txn: bigint | null, at: bigint | null): Promise<StoredEntry[]> =>
    txn === null || at === null
      ? []
      : await entriesOfTransaction(sql, organizationId, { txn, ms: Number(at), newest });
  const opened = await written(row.opened_txn, row.admitted_at);
  const closed = await written(row.closed_txn, row.ended_at);
  const lowered =
    row.lowered_txn === null || row.lowered_txn === row.closed_txn
      ? []
      : await transactionBetween(sql, organizationId, {
          txn: row.lowered_txn,
          first: opened.at(-1)?.version ?? 0n,
          last: closed[0]?.version ?? newest,
        });
  const all = new Map([...opened, ...lowered, ...closed].map((entry) => [entry.version, entry]));
  return [...all.values()]
    .map((entry) => ({ entry, amount: movedBy(entry, row) }))
    .filter(({ amount }) => amount > 0n);
}

/**
 * Ids are created when a request arrives, a little before its admission, by a clock that may be slightly
 * ahead.
 */
const AHEAD_MS = 10_000;
/**
 * How many rows are searched for the requests of one entry; it rarely takes more than the entry's own number.
 */
const LOOKED_THROUGH = 20_000;

interface Parts {
  rows: { row: Moved; amount: NanoUsd }[];
  /** True if all requests of the entry were found. */
  complete: boolean;
}

/** The requests in an entry. */
export async function partsOfEntry(sql: Sql, entry: StoredEntry): Promise<Parts> {
  const moved = MOVED[entry.kind];
  if (moved === undefined) return { rows: [], complete: true };
  const recent = from
    .selectFrom("request")
    .select(COLUMNS)
    .where("org_id", "=", entry.org_id)
    .where("request_id", "<", sinceRequest(Number(entry.at) + AHEAD_MS))
    .orderBy("request_id", "desc")
    .limit(LOOKED_THROUGH);
  const query = from
    .selectFrom(recent.as("recent"))
    .selectAll()
    .where(moved.txn, "=", entry.txn)
    .limit(MOST_IN_A_BATCH);
  const rows = (await rowsOf(sql, query))
    .map((row) => ({ row, amount: movedBy(entry, row) }))
    .filter(({ amount }) => amount > 0n);
  return { rows, complete: rows.length === Number(entry.requests) };
}

/** The most operations in one transaction (money.md §7). */
const MOST_IN_A_BATCH = 256;

/**
 * Entries of hold, lowering and settlement, then refunds, on one page. Throws if the organization has no such
 * request.
 */
export async function requestEntries(
  { sql }: { sql: Sql },
  organizationId: string,
  requestId: string,
): Promise<OwnEntries> {
  const own = await entriesOfRequest(sql, organizationId, requestId);
  const refunds = await refundEntries(sql, organizationId, requestId);
  return {
    data: [...own, ...refunds].map(({ entry, amount }) => ({
      n: Number(entry.version),
      at: printTime(entry.at),
      kind: entry.kind as OwnEntries["data"][number]["kind"],
      amount_usd: formatUsd(amount),
      requests: Number(entry.requests),
    })),
    next_cursor: null,
  };
}

/** The entries of later refunds, which are not on its receipt: each refund is an entry, or a part of one. */
async function refundEntries(sql: Sql, organizationId: string, requestId: string): Promise<OwnEntry[]> {
  const newest = await newestEntry(sql, organizationId);
  const found = await Promise.all(
    (await refundsOf(sql, organizationId, requestId)).map(async ({ at, amount, txn }) => {
      const written = await entriesOfTransaction(sql, organizationId, { txn, ms: Number(at), newest });
      return written.filter(({ kind }) => kind === "refund").map((entry) => ({ entry, amount }));
    }),
  );
  return found.flat();
}

/** One entry, with its requests. Throws if the organization's ledger has none with this number. */
export async function ledgerEntry(
  { sql, labels }: { sql: Sql; labels: LabelBook },
  organizationId: string,
  number: string,
): Promise<EntryDetail> {
  const entry = await entryNumbered(sql, organizationId, BigInt(numberedCursor(number)));
  if (entry === undefined) throw notFound("entry");
  const { rows, complete } = await partsOfEntry(sql, entry);
  const keys = await labels.keysOf(
    organizationId,
    rows.map(({ row }) => row.key_id),
  );
  return {
    entry: entryRecordOf(entry),
    newest: Number(await newestEntry(sql, organizationId)),
    balance_usd: formatUsd(addUsd(entry.available_after, entry.held_after)),
    about: await refundedRequest(sql, entry),
    parts: rows.map(({ row, amount }) => ({
      request: row.request_id,
      amount_usd: formatUsd(amount),
      model: row.model,
      key: { id: row.key_id, name: keys.get(row.key_id)?.name ?? row.key_id },
    })),
    complete,
  };
}

async function refundedRequest(sql: Sql, { kind, org_id, txn }: StoredEntry): Promise<string | null> {
  if (kind !== "refund") return null;
  const query = from
    .selectFrom("reversal")
    .select("target")
    .where("org_id", "=", org_id)
    .where("kind", "=", "refund")
    .where("txn", "=", txn)
    .limit(2);
  const [only, another] = await rowsOf(sql, query);
  return another === undefined ? (only?.target ?? null) : null;
}
