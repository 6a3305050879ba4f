// Checks the books of every organization, cheaply enough to run every minute: its balance against its open holds and
// the entries since the last check (I1, I2, I3, I5, I12 of money.md §5). Runs on one snapshot. Of the previous check
// only what the store confirms is trusted: a database that was put back to an earlier moment is not broken.
import { messageOf } from "../../domain/error-message.ts";
import { ask, type SqlDialect, moneyOf, numberOf, type Query, type SqlRow, textOf } from "../../store/sql.ts";
import { selected } from "../column-loads.ts";
import { ENTRY, LOAD } from "../columns.ts";
import type { Violation } from "../records.ts";
import type { BalanceRow, EntryRow } from "../rows.ts";
import { acceptedFindings } from "./accepted.ts";
import { CHAIN_BEGIN, type ChainBase, ChainVerification } from "./chain.ts";
import { Findings } from "./findings.ts";

export interface BooksQuestion {
  /** Where the check of an organization begins, as the previous check left it. */
  bases: ReadonlyMap<string, ChainBase>;
  /** Where it must begin: at the place that an operator has accepted, or from which a stop was found. */
  fixed: ReadonlyMap<string, { base: ChainBase; stopped: boolean }>;
}

export interface BooksReport {
  violations: Violation[];
  /** Where the next check of every organization begins; if its books are broken, where this one began. */
  bases: Map<string, ChainBase>;
}

/** The maximum number of violations reported per organization, so that every organization with broken books is reported. */
const TOLD = 20;
/** The number of organizations, or of entries, read at a time. */
const PAGE = 1000;
/** How many entries of an organization a process's first check goes back. Older ones are left to the whole verification. */
const FIRST_LOOK = 100;

/** Checks all organizations. */
export function* checkBooks(question: BooksQuestion): Query<BooksReport> {
  const violations: BooksReport["violations"] = [];
  const bases = new Map<string, ChainBase>();
  const accepted = Map.groupBy(yield* acceptedFindings(), ({ organizationId }) => organizationId);
  const holds = yield* openHolds();
  for (let after = ""; ; ) {
    const page = yield* ask(
      `SELECT ${selected(LOAD.balance, "b")} FROM org_balance b WHERE b.slot = 0 AND b.org_id > ?1
       ORDER BY b.org_id LIMIT ${PAGE}`,
      [after],
    );
    for (const row of page) {
      after = textOf(row["org_id"]);
      const books = {
        row,
        organizationId: after,
        held: holds.get(after) ?? 0n,
        accepted: accepted.get(after) ?? [],
      };
      const its = yield* checkOrganization(books, question);
      violations.push(...its.violations.slice(0, TOLD));
      bases.set(after, its.base);
    }
    if (page.length < PAGE) return { violations, bases };
  }
}

/**
 * Worded to match each store's index of unfinished requests, which are few, whatever the store holds.
 * If asked for sums by organization, SQLite would read the whole table in key order.
 */
const OPEN_HOLDS: Record<SqlDialect, string> = {
  sqlite: "SELECT org_id, hold FROM request INDEXED BY request_unfinished WHERE state = 'dispatched'",
  postgresql:
    "SELECT org_id, hold FROM request WHERE closed_txn IS NULL AND state IN ('admitted', 'dispatched')",
};
const ITS_HOLDS: Record<SqlDialect, string> = {
  sqlite: `${OPEN_HOLDS.sqlite} AND org_id = ?1`,
  postgresql: `${OPEN_HOLDS.postgresql} AND org_id = ?1`,
};

function* openHolds(): Query<Map<string, bigint>> {
  const holds = new Map<string, bigint>();
  for (const row of yield* ask(OPEN_HOLDS)) {
    const organizationId = textOf(row["org_id"]);
    holds.set(organizationId, (holds.get(organizationId) ?? 0n) + moneyOf(row["hold"]));
  }
  return holds;
}

/** Returns the total hold of an organization's unfinished requests. */
export function* openHoldsOf(organizationId: string): Query<bigint> {
  const rows = yield* ask(ITS_HOLDS, [organizationId]);
  return rows.reduce((sum, row) => sum + moneyOf(row["hold"]), 0n);
}

/**
 * How many entries a resume reads under the organization's lock: more than can be made while its chain is read
 * beforehand.
 */
const RECENT = 1000;

/** Returns what is broken in the organization's last entries. */
export function* brokenInRecentEntries(organizationId: string, head: number): Query<Violation[]> {
  const findings = new Findings([]);
  const entry = head <= RECENT ? null : yield* entryAt(organizationId, head - RECENT);
  const base = entry === null ? CHAIN_BEGIN : baseAfter(entry);
  yield* addEntries(new ChainVerification(organizationId, findings, base), findings, {
    organizationId,
    after: base.version,
  });
  return findings.report().violations;
}

interface Books {
  organizationId: string;
  /** The row of its balance. */
  row: SqlRow;
  /** The total hold of its unfinished requests. */
  held: bigint;
  /** The findings among them that an operator has accepted: these stop nobody. */
  accepted: readonly Violation[];
}

/** Returns what is broken, and where the next check of it begins. */
function* checkOrganization(
  { organizationId, row, held, accepted }: Books,
  question: BooksQuestion,
): Query<{ violations: BooksReport["violations"]; base: ChainBase }> {
  const findings = new Findings(accepted);
  const balance = legible(findings, organizationId, () => LOAD.balance.named(row));
  const base = yield* baseFor(organizationId, question, balance);
  if (balance !== null) {
    const chain = new ChainVerification(organizationId, findings, base);
    if (!isAt(balance, base)) yield* addEntries(chain, findings, { organizationId, after: base.version });
    chain.end(balance);
    findings.equal("I3 held = unfinished holds", { organizationId, expected: held, found: balance.held });
  }
  const { ok, violations } = findings.report();
  return { violations, base: ok && balance !== null ? baseOf(balance) : base };
}

/** Returns where the check begins if the store still has that place; otherwise some entries back. */
function* baseFor(
  organizationId: string,
  { bases, fixed }: BooksQuestion,
  balance: BalanceRow | null,
): Query<ChainBase> {
  const must = fixed.get(organizationId);
  const first = Math.max(0, (balance?.version ?? 0) - FIRST_LOOK);
  const left = bases.get(organizationId);
  const newer = must !== undefined && (must.stopped || must.base.version >= (left?.version ?? first));
  const base = newer ? must.base : left;
  if (base !== undefined) {
    if (base.version === 0 || (balance !== null && isAt(balance, base))) return base;
    const entry = yield* entryAt(organizationId, base.version);
    if (entry !== null && same(entry.hash, base.headHash)) return base;
    if (must?.stopped === true) return CHAIN_BEGIN; // all of it, or it might resume without being repaired
  }
  const entry = first === 0 ? null : yield* entryAt(organizationId, first);
  if (entry === null) return CHAIN_BEGIN;
  return baseAfter(entry);
}

/** Returns the place after the entry. */
const baseAfter = ({ version, hash, availableAfter, heldAfter }: EntryRow): ChainBase => ({
  version,
  headHash: hash,
  available: availableAfter,
  held: heldAfter,
});

const same = (one: Uint8Array, other: Uint8Array): boolean => Buffer.compare(one, other) === 0;

/** True if nothing was entered since. */
const isAt = ({ version, headHash }: BalanceRow, base: ChainBase): boolean =>
  version === base.version && same(headHash, base.headHash);

/** Returns null if the entry does not exist or cannot be read. */
function* entryAt(organizationId: string, version: number): Query<EntryRow | null> {
  const [row] = yield* entriesFrom(organizationId, version, 1);
  const entry = row && legible(new Findings([]), organizationId, () => ENTRY.named(row) as EntryRow);
  return entry?.version === version ? entry : null;
}

function* addEntries(
  chain: ChainVerification,
  findings: Findings,
  { organizationId, after }: { organizationId: string; after: number },
): Query<void> {
  for (let from = after + 1; ; ) {
    const page = yield* entriesFrom(organizationId, from, PAGE);
    for (const row of page) {
      const entry = legible(findings, organizationId, () => ENTRY.named(row) as EntryRow);
      if (entry !== null) chain.add(entry);
      from = numberOf(row["version"]) + 1;
    }
    if (page.length < PAGE) return;
  }
}

const entriesFrom = (organizationId: string, version: number, limit: number): Query<SqlRow[]> =>
  ask(
    `SELECT ${selected(ENTRY, "e")} FROM ledger_entry e WHERE e.org_id = ?1 AND e.slot = 0 AND e.version >= ?2
     ORDER BY e.version LIMIT ${limit}`,
    [organizationId, version],
  );

/** Returns null if it cannot be read, which is itself a violation. */
function legible<Row>(findings: Findings, organizationId: string, read: () => Row): Row | null {
  try {
    return read();
  } catch (error) {
    findings.violated("I5 rows are readable", {
      organizationId,
      expected: "figures",
      found: messageOf(error),
    });
    return null;
  }
}

/** Returns the current balance as the place from which its chain continues. */
export const baseOf = ({ version, headHash, available, held }: BalanceRow): ChainBase => ({
  version,
  headHash,
  available,
  held,
});
