// Credits of one organization: the balance calculation, open holds, the ledger as a page of a statement.
import type { ExpressionBuilder } from "kysely";
import type * as billingShapes from "../api/shapes/billing.ts";
import type { z } from "zod";
import { addUsd, formatUsd, subUsd, ZERO_USD } from "../domain/money.ts";
import { PAGE_ROWS } from "../domain/page-rows.ts";
import type { Clock } from "../lib/clock.ts";
import { printTime } from "../domain/print.ts";
import { missingBalance } from "../ledger/unreadable.ts";
import { exactUsd } from "../store/exact-sum.ts";
import { exactTotal, from, rowOf, rowsOf, when } from "../store/query.ts";
import type { Sql } from "../store/sql.ts";
import type { Tables } from "../store/tables.ts";
import { numberedCursor, requestCursor } from "./cursors.ts";
import type { LabelBook } from "./labels.ts";
import {
  entriesWithin,
  entryNumbered,
  firstEntrySince,
  lastEntry,
  othersTurn,
  PIECE,
} from "./ledger-place.ts";
import { type CreditTransaction, creditTransactionsPage } from "./credit-transactions.ts";
import { stillRunsIn } from "./request-time.ts";
import { windowIfAsked } from "./windows.ts";

export type LedgerQuery = z.output<typeof billingShapes.ledgerQuery>;
export type PageQuery = z.output<typeof billingShapes.pageQuery>;
type Billing = z.output<typeof billingShapes.billing>;
type Entry = z.output<typeof billingShapes.ledgerList>["data"][number];
type TopUp = z.output<typeof billingShapes.topUpList>["data"][number];
export type BillingSums = Omit<Billing, "drivers" | "presets_usd" | "minimum_usd" | "maximum_usd">;

export interface BillingPorts {
  sql: Sql;
  clock: Clock;
  labels: LabelBook;
}

/** Entries that do not change what the organization owns. */
const HOLD_KINDS = ["hold", "lower", "rest", "void", "variance"];

/** The balance calculation of an organization. */
export async function billingSums(
  { sql }: Pick<BillingPorts, "sql">,
  organizationId: string,
): Promise<BillingSums> {
  const query = from
    .selectFrom("org_balance")
    .selectAll("org_balance")
    // One statement, so that all parts are from the same instant.
    .select((eb) => [
      eb
        .selectFrom("request")
        .where(stillRunsIn(sql, eb.ref("org_balance.org_id")))
        .select((eb) => eb.fn.countAll<bigint>().as("holds"))
        .$asScalar()
        .$notNull()
        .as("holds"),
      toppedUp(eb, "grant").as("grants"),
      toppedUp(eb, "purchase").as("purchases"),
      reversed(eb, "refund").as("refunds"),
      reversed(eb, "chargeback").as("chargebacks"),
    ])
    .where("org_id", "=", organizationId)
    .where("slot", "=", 0n);
  const row = await rowOf(sql, query);
  if (row === undefined) throw missingBalance(organizationId);
  return sumsOf(row);
}

type OfBalance = ExpressionBuilder<Tables, "org_balance">;

const toppedUp = (eb: OfBalance, kind: Tables["topup"]["kind"]) =>
  eb
    .selectFrom("topup")
    .whereRef("topup.org_id", "=", "org_balance.org_id")
    .where("kind", "=", kind)
    .select((eb) => exactTotal(eb.ref("amount")).as("sum"))
    .$asScalar();

const reversed = (eb: OfBalance, kind: Tables["reversal"]["kind"]) =>
  eb
    .selectFrom("reversal")
    .whereRef("reversal.org_id", "=", "org_balance.org_id")
    .where("kind", "=", kind)
    .select((eb) => exactTotal(eb.ref("amount")).as("sum"))
    .$asScalar();

/**
 * Requests that hold credits now, newest first, page by page; the cursor is a request id. Throws `Refusal`
 * for any other cursor.
 */
export async function openHolds(
  { sql, labels }: BillingPorts,
  organizationId: string,
  { cursor, limit = PAGE_ROWS }: PageQuery,
): Promise<z.output<typeof billingShapes.holdList>> {
  const query = from
    .selectFrom("request")
    .select(["request_id", "key_id", "model", "hold", "admitted_at", "deadline_at"])
    .where((eb) =>
      eb.and([
        stillRunsIn(sql, organizationId),
        ...when(requestCursor(cursor), (id) => eb("request_id", "<", id)),
      ]),
    )
    .orderBy("request_id", "desc")
    .limit(limit + 1);
  const rows = await rowsOf(sql, query);
  const keys = await labels.keysOf(
    organizationId,
    rows.map((row) => row.key_id),
  );
  const data = rows.slice(0, limit).map((row) => ({
    request: row.request_id,
    key: { id: row.key_id, name: keys.get(row.key_id)?.name ?? row.key_id },
    model: row.model,
    amount_usd: formatUsd(row.hold),
    admitted_at: printTime(row.admitted_at),
    deadline_at: printTime(row.deadline_at),
  }));
  return { data, next_cursor: rows.length > limit ? (data.at(-1)?.request ?? null) : null };
}

/** The number of entries that a page examines, whatever the filter. */
const LOOKED_AT = 100_000n;
/** The range of entry numbers in both stores, so that a damaged number is neither skipped nor passed. */
const [LOWEST, HIGHEST] = [-(2n ** 63n), 2n ** 63n - 1n];

/** Found by binary search: a month of long ago is reached without reading everything after it. */
async function placeOf(sql: Sql, organizationId: string, ms: number): Promise<bigint> {
  const newest = (await lastEntry(sql, organizationId, [LOWEST, HIGHEST])) ?? 0n;
  return firstEntrySince(sql, organizationId, { ms, newest });
}

/** The number of the first entry of the window, for several pages of it: some twenty look-ups. */
export async function firstEntryAsked(
  { sql, clock }: Pick<BillingPorts, "sql" | "clock">,
  organizationId: string,
  query: LedgerQuery,
): Promise<bigint> {
  const { fromMs } = windowIfAsked(query, clock.nowMs());
  return fromMs === undefined ? LOWEST : await placeOf(sql, organizationId, fromMs);
}

/**
 * The statement, newest first. `lowest`: as `firstEntryAsked` returned it. If a page is not full but more may follow, `searched_to` says how far back it
 * searched.
 */
export async function ledgerPage(
  { sql, clock }: BillingPorts,
  organizationId: string,
  query: LedgerQuery,
  { lookedAt = LOOKED_AT, lowest: known }: { lookedAt?: bigint; lowest?: bigint } = {},
): Promise<z.output<typeof billingShapes.ledgerList>> {
  const limit = query.limit ?? PAGE_ROWS;
  const { toMs } = windowIfAsked(query, clock.nowMs());
  const lowest = known ?? (await firstEntryAsked({ sql, clock }, organizationId, query));
  // A reader with a cursor is inside the window already.
  let highest = HIGHEST;
  if (query.cursor !== undefined) highest = BigInt(numberedCursor(query.cursor)) - 1n;
  else if (toMs !== undefined) highest = (await placeOf(sql, organizationId, toMs)) - 1n;
  const asked = (eb: ExpressionBuilder<Tables, "ledger_entry">) =>
    eb.and([
      ...when(query.kind, (kind) => eb("kind", "=", kind)),
      ...(query.holds !== "true" && query.kind === undefined ? [eb("kind", "not in", HOLD_KINDS)] : []),
    ]);
  const rows: Tables["ledger_entry"][] = [];
  for (let left = lookedAt; left > 0n && rows.length <= limit; left -= PIECE) {
    const last = await lastEntry(sql, organizationId, [lowest, highest]);
    if (last === null) return page(rows, limit);
    const first = greatest(lowest, last - least(PIECE, left) + 1n);
    const piece = entriesWithin(organizationId, [first, last])
      .selectAll()
      .orderBy("version", "desc")
      .where(asked);
    rows.push(...(await rowsOf(sql, piece.limit(limit + 1 - rows.length))));
    if (first === lowest) return page(rows, limit);
    highest = first - 1n;
    await othersTurn();
  }
  if (rows.length > limit) return page(rows, limit);
  if ((await lastEntry(sql, organizationId, [lowest, highest])) === null) return page(rows, limit);
  const reached = await entryNumbered(sql, organizationId, highest + 1n);
  return {
    data: rows.map(entryOf),
    next_cursor: String(highest + 1n),
    searched_to: reached === undefined ? null : printTime(reached.at),
  };
}

/** The rows of one page, cut only by the limit. */
function page(
  rows: readonly Tables["ledger_entry"][],
  limit: number,
): z.output<typeof billingShapes.ledgerList> {
  const shown = rows.slice(0, limit);
  const next = rows.length > limit ? String(shown.at(-1)?.version) : null;
  return { data: shown.map(entryOf), next_cursor: next, searched_to: null };
}

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);
const greatest = (a: bigint, b: bigint): bigint => (a > b ? a : b);

/**
 * Credits and chargebacks of one organization, newest first. Throws `Refusal` for a cursor that no page
 * returned.
 */
export async function topUpsPage(
  sql: Sql,
  organizationId: string,
  { cursor, limit = PAGE_ROWS }: PageQuery,
): Promise<z.output<typeof billingShapes.topUpList>> {
  const { rows, nextCursor } = await creditTransactionsPage(sql, { organizationId, cursor, limit });
  return { data: rows.map(topUpOf), next_cursor: nextCursor };
}

interface Parts
  extends Pick<Tables["org_balance"], "available" | "held" | "debt" | "spent" | "purchased">,
    Record<"grants" | "purchases" | "refunds" | "chargebacks", string | null> {
  holds: bigint;
}

/** purchases + grants + refunds − charges − chargebacks = available + held − debt (money.md §5). */
function sumsOf(row: Parts): BillingSums {
  const { available, held, debt, spent } = row;
  const [purchases, grants] = [exactUsd(row.purchases), exactUsd(row.grants)];
  const [refunds, chargebacks] = [exactUsd(row.refunds), exactUsd(row.chargebacks)];
  // A refund lowers `spent`; the calculation shows the charges before refunds.
  const charges = addUsd(spent, refunds);
  const came = addUsd(addUsd(purchases, grants), refunds);
  const went = addUsd(charges, chargebacks);
  const drift = subUsd(subUsd(came, went), subUsd(addUsd(available, held), debt));
  return {
    purchases_usd: formatUsd(purchases),
    grants_usd: formatUsd(grants),
    refunds_usd: formatUsd(refunds),
    charges_usd: formatUsd(charges),
    chargebacks_usd: formatUsd(chargebacks),
    available_usd: formatUsd(available),
    held_usd: formatUsd(held),
    debt_usd: formatUsd(debt),
    drift_usd: formatUsd(drift),
    paid_workspace: row.purchased > ZERO_USD,
    open_holds: Number(row.holds),
  };
}

function entryOf(row: Tables["ledger_entry"]): Entry {
  const before = addUsd(row.available_before, row.held_before);
  const after = addUsd(row.available_after, row.held_after);
  return {
    n: Number(row.version),
    at: printTime(row.at),
    kind: row.kind as Entry["kind"],
    // A move between available and held does not change what the organization owns: its amount is shown.
    amount_usd: formatUsd(HOLD_KINDS.includes(row.kind) ? row.amount : subUsd(after, before)),
    available_usd: formatUsd(row.available_after),
    held_usd: formatUsd(row.held_after),
    balance_usd: formatUsd(after),
    reference: referenceOf(row.reference),
    requests: Number(row.requests),
    hash: Buffer.from(row.hash).toString("hex"),
  };
}

/** A top-up's reference is JSON: `[source, externalId]`. */
function referenceOf(reference: string | null): string | null {
  if (reference?.startsWith("[") !== true) return reference;
  try {
    const parts = JSON.parse(reference) as unknown[];
    return parts.filter((part) => typeof part === "string").join(": ");
  } catch {
    return reference; // damaged: shown as stored, the rest of the page is fine
  }
}

/** A chargeback's amount is printed as negative. */
export const topUpOf = (transaction: CreditTransaction): TopUp => ({
  at: printTime(transaction.at),
  kind: transaction.kind,
  amount_usd: formatUsd(
    transaction.kind === "chargeback" ? subUsd(ZERO_USD, transaction.amount) : transaction.amount,
  ),
  source: transaction.source,
  reference: transaction.external_id,
  balance_after_usd: formatUsd(transaction.balance_after),
});
