// The statement of one month. Its sums come from the ledger's entries between two of them, added up in
// pieces, so that a month with a million charges blocks nobody; the charges by model and key are summed over
// requests and compared with them.
import type * as shapes from "../api/shapes/statement.ts";
import type { z } from "zod";
import { addUsd, formatUsd, type NanoUsd, nanoUsd, subUsd, ZERO_USD } from "../domain/money.ts";
import { printTime } from "../domain/print.ts";
import { Refusal } from "../domain/refusals.ts";
import { notFound } from "../domain/unknown-record.ts";
import { type Clock, nextUtcMonth, utcMonth } from "../lib/clock.ts";
import { exactUsd } from "../store/exact-sum.ts";
import { exactTotal, from, rowOf, rowsOf } from "../store/query.ts";
import type { Sql } from "../store/sql.ts";
import type { LabelBook } from "./labels.ts";
import {
  entryNumbered,
  firstEntrySince,
  newestEntry,
  othersTurn,
  PIECE,
  type StoredEntry,
} from "./ledger-place.ts";
import { organizationNamed } from "./organization-names.ts";
import { type ChargesAsk, chargesByModelAndKey } from "./statement-charges.ts";

type Statement = z.output<typeof shapes.statement>;

export interface StatementPorts {
  sql: Sql;
  clock: Clock;
  labels: LabelBook;
}

/** The most rows in one list; the rest is one line. */
const LISTED = 1_000;
/** How long a transaction stamped in the month may still take to commit. */
const SETTLED_AFTER_MS = 60_000;

/** Statements being made, by organization, newest last. */
const MAKING = new WeakMap<Sql, Map<string, { month: string; made: Promise<Statement> }>>();

/**
 * Default: the current month. One statement per organization is made at a time; concurrent calls for the same
 * month share it. Throws if there is no such organization, or the month has not begun.
 */
export function statementOf(
  on: StatementPorts,
  organizationId: string,
  asked: string | undefined,
): Promise<Statement> {
  const month = asked ?? utcMonth(on.clock.nowMs());
  const making = MAKING.get(on.sql) ?? new Map<string, { month: string; made: Promise<Statement> }>();
  MAKING.set(on.sql, making);
  const before = making.get(organizationId);
  if (before?.month === month) return before.made;
  const make = (): Promise<Statement> => statementNow(on, organizationId, month);
  const made = before === undefined ? make() : before.made.then(make, make);
  const mine = { month, made };
  making.set(organizationId, mine);
  const ended = (): void => {
    if (making.get(organizationId) === mine) making.delete(organizationId);
  };
  made.then(ended, ended);
  return made;
}

async function statementNow(on: StatementPorts, organizationId: string, month: string): Promise<Statement> {
  const { sql } = on;
  const nowMs = on.clock.nowMs();
  const fromMs = Date.parse(`${month}-01T00:00:00Z`);
  if (fromMs > nowMs) throw new Refusal("invalid_request", "This month has not begun.", { param: "month" });
  const endMs = nextUtcMonth(fromMs);
  const named = await organizationNamed(sql, organizationId);
  if (named === null) throw notFound("org");
  const newest = await newestEntry(sql, organizationId);
  const final = nowMs >= endMs + SETTLED_AFTER_MS;
  const place = async (ms: number): Promise<bigint> =>
    (await firstEntrySince(sql, organizationId, { ms, newest })) - 1n;
  const [before, last] = [await place(fromMs), await place(endMs)];
  const [opening, closing] = [
    await standAt(sql, organizationId, before),
    await standAt(sql, organizationId, last),
  ];
  const sums = await sumsBetween(sql, organizationId, [before, last]);
  const went = sums.charge + sums.chargeback + sums.chargeback_debt;
  const stated = nanoUsd(opening.balance + sums.purchase + sums.grant + sums.refund - went);
  // For the current month: only what had ended when its last entry was written.
  const toMs = final || closing.entry === null ? endMs : Math.min(endMs, Number(closing.entry.at) + 1);
  const moved = await movementsOf(sql, organizationId, { fromMs, toMs });
  return {
    org: { id: organizationId, name: named.name },
    month,
    from: printTime(fromMs),
    to: printTime(Math.min(endMs, nowMs)),
    final,
    made_at: printTime(nowMs),
    opening_usd: formatUsd(opening.balance),
    purchases_usd: formatUsd(sums.purchase),
    grants_usd: formatUsd(sums.grant),
    refunds_usd: formatUsd(sums.refund),
    charges_usd: formatUsd(sums.charge),
    chargebacks_usd: formatUsd(addUsd(sums.chargeback, sums.chargeback_debt)),
    closing_usd: formatUsd(stated),
    available_usd: formatUsd(closing.available),
    held_usd: formatUsd(closing.held),
    debt_usd: formatUsd(closing.debt),
    drift_usd: formatUsd(subUsd(stated, closing.balance)),
    ...printMovements(moved, nanoUsd(stated - opening.balance + sums.charge)),
    ...(await chargesOf(on, { organizationId, fromMs, toMs, charged: sums.charge })),
    entries: {
      first: last > before ? Number(before + 1n) : null,
      last: last > before ? Number(last) : null,
      count: Number(last - before),
    },
    head: closing.entry && {
      n: Number(closing.entry.version),
      hash: Buffer.from(closing.entry.hash).toString("hex"),
    },
  };
}

interface Stand {
  /** available + held − debt. */
  balance: NanoUsd;
  available: NanoUsd;
  held: NanoUsd;
  debt: NanoUsd;
  entry: StoredEntry | null;
}

/** The balance after an entry; 0 means before the first. */
async function standAt(sql: Sql, organizationId: string, version: bigint): Promise<Stand> {
  const entry = version === 0n ? undefined : await entryNumbered(sql, organizationId, version);
  if (entry === undefined)
    return { balance: ZERO_USD, available: ZERO_USD, held: ZERO_USD, debt: ZERO_USD, entry: null };
  const [available, held] = [entry.available_after, entry.held_after];
  const debt = await debtAt(sql, organizationId, version);
  return { balance: subUsd(addUsd(available, held), debt), available, held, debt, entry };
}

/**
 * Entries record what they leave available and held, but not the debt: that is summed from the first
 * chargeback that left any.
 */
async function debtAt(sql: Sql, organizationId: string, version: bigint): Promise<NanoUsd> {
  const query = from
    .selectFrom("reversal")
    .where("org_id", "=", organizationId)
    .where("kind", "=", "chargeback")
    .where("debt_after", ">", ZERO_USD)
    .select((eb) => eb.fn.min("at").as("since"));
  const { since } = (await rowOf(sql, query)) ?? { since: null };
  if (since === null) return ZERO_USD;
  const first = await firstEntrySince(sql, organizationId, { ms: Number(since), newest: version });
  const { chargeback_debt, debt_paid } = await sumsBetween(sql, organizationId, [first - 1n, version]);
  return subUsd(chargeback_debt, debt_paid);
}

const SUMMED = [
  "purchase",
  "grant",
  "refund",
  "charge",
  "chargeback",
  "chargeback_debt",
  "debt_paid",
] as const;
type Sums = Record<(typeof SUMMED)[number], NanoUsd>;

/** By kind, over the entries after one number up to another. */
async function sumsBetween(
  sql: Sql,
  organizationId: string,
  [before, last]: readonly [bigint, bigint],
): Promise<Sums> {
  const sums = Object.fromEntries(SUMMED.map((kind) => [kind, ZERO_USD])) as Sums;
  for (let at = before; at < last; at += PIECE) {
    if (at !== before) await othersTurn();
    const query = from
      .selectFrom("ledger_entry")
      .where("org_id", "=", organizationId)
      .where("slot", "=", 0n)
      .where("version", ">", at)
      .where("version", "<=", at + PIECE < last ? at + PIECE : last)
      .groupBy("kind")
      .select((eb) => ["kind", exactTotal(eb.ref("amount")).as("sum")]);
    for (const { kind, sum } of await rowsOf(sql, query))
      if (isSummed(kind)) sums[kind] = addUsd(sums[kind], exactUsd(sum));
  }
  return sums;
}

const isSummed = (kind: string): kind is keyof Sums => (SUMMED as readonly string[]).includes(kind);

interface Movement extends Omit<Statement["movements"][number], "amount_usd"> {
  signed: NanoUsd;
}

/** `all`: their sum. */
function printMovements(
  moved: readonly Movement[],
  all: NanoUsd,
): Pick<Statement, "movements" | "other_movements"> {
  const listed = moved.slice(0, LISTED);
  return {
    movements: listed.map(({ signed, ...row }) => ({ ...row, amount_usd: formatUsd(signed) })),
    other_movements: othersOf(moved.length - listed.length, {
      all,
      listed: listed.map(({ signed }) => signed),
    }),
  };
}

/** What each key was charged for each model, the largest first. */
async function chargesOf(
  { sql, labels }: Pick<StatementPorts, "sql" | "labels">,
  asked: ChargesAsk,
): Promise<Pick<Statement, "charges" | "other_charges">> {
  const charged = await chargesByModelAndKey(sql, asked);
  const listed = charged.slice(0, LISTED);
  const names = await labels.keysOf(
    asked.organizationId,
    listed.map(({ key }) => key),
  );
  return {
    charges: listed.map(({ model, key, requests, charge }) => ({
      model,
      key: { id: key, name: names.get(key)?.name ?? key },
      requests,
      charge_usd: formatUsd(charge),
    })),
    other_charges: othersOf(charged.length - listed.length, {
      all: asked.charged,
      listed: listed.map(({ charge }) => charge),
    }),
  };
}

/** Credits and chargebacks, in order. */
async function movementsOf(
  sql: Sql,
  organizationId: string,
  { fromMs, toMs }: { fromMs: number; toMs: number },
): Promise<Movement[]> {
  const columns = ["at", "amount", "source", "external_id", "kind"] as const;
  const within = { org: organizationId, from: BigInt(fromMs), to: BigInt(toMs) };
  const toppedUp = from
    .selectFrom("topup")
    .select(columns)
    .where((eb) =>
      eb.and([eb("org_id", "=", within.org), eb("at", ">=", within.from), eb("at", "<", within.to)]),
    )
    .orderBy("at")
    .limit(MOVEMENTS_READ);
  const reversed = from
    .selectFrom("reversal")
    .select([...columns, "target"])
    .where((eb) =>
      eb.and([eb("org_id", "=", within.org), eb("at", ">=", within.from), eb("at", "<", within.to)]),
    )
    .orderBy("at")
    .limit(MOVEMENTS_READ);
  const came = (await rowsOf(sql, toppedUp)).map((row) => ({ ...row, request: null }));
  const went = (await rowsOf(sql, reversed)).map(({ target, ...row }) => ({
    ...row,
    request: row.kind === "refund" ? target : null,
  }));
  return [...came, ...went]
    .toSorted((a, b) => Number(a.at - b.at))
    .map(({ at, amount, source, external_id, kind, request }) => ({
      at: printTime(at),
      kind,
      signed: kind === "chargeback" ? subUsd(ZERO_USD, amount) : amount,
      source,
      reference: external_id,
      request,
    }));
}

/** The limit per table: rows beyond it are in no list, but still in the sum. */
const MOVEMENTS_READ = 10 * LISTED;

/** What a list leaves out of the sum; null if nothing. */
function othersOf(
  rows: number,
  { all, listed }: { all: NanoUsd; listed: readonly NanoUsd[] },
): Statement["other_charges"] {
  const amount = nanoUsd(listed.reduce<bigint>((left, one) => left - one, all));
  return rows === 0 && amount === 0n ? null : { rows, amount_usd: formatUsd(amount) };
}
