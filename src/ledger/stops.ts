// Organizations whose books do not add up, as recorded in the store. A stop applies to one
// organization, at every gateway and after every start; it ends when the books hold again, or by an
// operator (docs/decisions/0088-broken-books-stop-their-organization.md).
import { type Actor, byItself } from "../domain/actor.ts";
import { type NanoUsd, nanoUsd } from "../domain/money.ts";
import { appendAuditLine } from "../store/audit-log.ts";
import { ask, moneyOf, numberOf, orNull, type Query, type SqlRow, textOf } from "../store/sql.ts";
import { lockOrganization } from "./balance.ts";
import { selected } from "./column-loads.ts";
import { LOAD } from "./columns.ts";
import type { Reader, ResumeOutcome, Transactions } from "./ledger.ts";
import type { Violation } from "./records.ts";
import { acceptedIn, distinct, inEntries, violationsIn } from "./verify/accepted.ts";
import { baseOf, brokenInRecentEntries, openHoldsOf } from "./verify/books.ts";
import { CHAIN_BEGIN, type ChainBase, unjoined } from "./verify/chain.ts";

export type Violations = readonly Violation[];

export interface Stop {
  organizationId: string;
  /** Null: paid calls continue. */
  sinceMs: number | null;
  /** True if an operator has accepted everything before `base` as it is. */
  accepted: boolean;
  violations: Violations;
  /** The place from which its books are checked. */
  base: ChainBase;
}

/** A stop that is in force. */
export interface StoppedOrganization extends Stop {
  sinceMs: number;
}

/** Invariants of what an organization owns: its balance, open holds, chain. The others concern one record and stop nobody. */
const OF_ITS_BOOKS = /^I(1|2|3|5|12) /;

/** Returns the organizations whose books a whole verification found broken. */
export const brokenBooks = (violations: Violations): string[] => [
  ...new Set(
    violations.flatMap(({ invariant, organizationId }) =>
      OF_ITS_BOOKS.test(invariant) ? (organizationId ?? []) : [],
    ),
  ),
];

/** The actor in the audit log for automatic stops and resumes. */
const WATCH = byItself("ledger_books");
const COLUMNS = "SELECT org_id, since, violations, base, resumed_at, accepted FROM stopped_organization";

/** Returns everything recorded in the store. A damaged row affects only itself, and is read in the strictest way. */
export const readStops = (on: Reader): Promise<Stop[]> =>
  on.read(function* () {
    return (yield* ask(`${COLUMNS} ORDER BY org_id`)).map(stopOf);
  });

/** Returns at most `most` organizations whose paid calls are refused, with ids above `after`, sorted by id. */
export const stoppedAfter = (
  on: Reader,
  { after, most }: { after: string; most: number },
): Promise<StoppedOrganization[]> =>
  on.read(function* () {
    const rows = yield* ask(
      `${COLUMNS} WHERE org_id > ?1 AND since IS NOT NULL ORDER BY org_id LIMIT ${most}`,
      [after],
    );
    return rows.map(stopOf).filter(stands);
  });

/** Returns whether the organization's paid calls are refused, or were some day: its row stays. */
export const wasStopped = (on: Reader, organizationId: string): Promise<boolean> =>
  on.read(function* () {
    const rows = yield* ask("SELECT org_id FROM stopped_organization WHERE org_id = ?1", [organizationId]);
    return rows.length > 0;
  });

/** Returns the organizations whose paid calls are refused, sorted by id. */
export const stoppedOrganizations = async (on: Reader): Promise<StoppedOrganization[]> =>
  (await readStops(on)).filter(stands);

/** Returns null if the organization's paid calls continue. */
export const stoppedSince = (on: Reader, organizationId: string): Promise<number | null> =>
  on.read(function* () {
    const [row] = yield* ask("SELECT since FROM stopped_organization WHERE org_id = ?1", [organizationId]);
    return orNull(row?.["since"], numberOf);
  });

export const stands = (stop: Stop): stop is StoppedOrganization => stop.sinceMs !== null;

/** Stops the organization, at once at this gateway and within a few seconds at every other, and writes an audit log line. */
export const stop = (
  on: Transactions,
  { organizationId, violations, base }: Omit<Stop, "sinceMs" | "accepted">,
): Promise<void> =>
  on.change({ organizationId, by: WATCH.id }, function* (nowMs) {
    const [stopped] = yield* ask(
      `INSERT INTO stopped_organization (org_id, since, violations, base) VALUES (?1, CAST(?2 AS bigint), ?3, ?4)
       ON CONFLICT (org_id) DO UPDATE SET since = excluded.since, violations = excluded.violations, base = excluded.base
       WHERE stopped_organization.since IS NULL RETURNING org_id`,
      [organizationId, nowMs, JSON.stringify(violations), printBase(base)],
    );
    if (stopped === undefined) return;
    const [first] = violations;
    const note = { actor: WATCH, action: "organization.stop", organizationId, target: organizationId };
    const after = { invariant: first?.invariant, expected: first?.expected, found: first?.found };
    yield* appendAuditLine({ ...note, after }, nowMs);
  });

/** Updates the violations of an organization that stays stopped. */
export const stillStopped = (
  on: Transactions,
  { organizationId, violations }: Pick<Stop, "organizationId" | "violations">,
): Promise<void> =>
  on.change({ organizationId, by: WATCH.id }, function* () {
    const told = JSON.stringify(violations);
    yield* ask("UPDATE stopped_organization SET violations = ?2 WHERE org_id = ?1 AND since IS NOT NULL", [
      organizationId,
      told,
    ]);
  });

/** Ends the stop of an organization whose books hold again. */
export const letGo = (on: Transactions, organizationId: string): Promise<void> =>
  on.change({ organizationId, by: WATCH.id }, function* (nowMs) {
    const [gone] = yield* ask(
      `UPDATE stopped_organization SET since = NULL, violations = '[]'
       WHERE org_id = ?1 AND since IS NOT NULL RETURNING org_id`,
      [organizationId],
    );
    if (gone === undefined) return;
    const note = { actor: WATCH, action: "organization.resume", organizationId, target: organizationId };
    yield* appendAuditLine({ ...note, after: { reason: "its books add up again" } }, nowMs);
  });

/**
 * Resumes an organization by an operator's decision: its entries up to now are accepted as they are, and from now on
 * the audit lists what is broken in them apart. It does not accept what can be repaired: the balance must match its
 * open holds and totals, and be at the end of its chain. `found`: what a check of its whole chain has just found.
 */
export const resume = (
  on: Transactions,
  { organizationId, reason, found }: { organizationId: string; reason: string; found: Violations },
  actor: Actor,
): Promise<ResumeOutcome> =>
  on.change({ organizationId, by: actor.id }, function* (nowMs): Query<ResumeOutcome> {
    yield* lockOrganization(organizationId);
    const [stopped] = yield* ask(`${COLUMNS} WHERE org_id = ?1 AND since IS NOT NULL`, [organizationId]);
    if (stopped === undefined) return { kind: "not_stopped" };
    const [row] = yield* ask(
      `SELECT ${selected(LOAD.balance, "b")} FROM org_balance b WHERE b.org_id = ?1 AND b.slot = 0`,
      [organizationId],
    );
    if (row === undefined) return { kind: "broken", what: "balance", expected: "a row", found: "none" };
    const balance = LOAD.balance.named(row);
    const { available, held, debt, purchased, granted, spent } = balance;
    const holds = yield* openHoldsOf(organizationId);
    if (holds !== held) return broken("held", holds, held);
    const owned = purchased + granted - spent - held + debt;
    if (owned !== available) return broken("available", owned, available);
    const [last] = yield* ask(
      `SELECT version, hash, available_after, held_after FROM ledger_entry WHERE org_id = ?1 AND slot = 0 ORDER BY version DESC LIMIT 1`,
      [organizationId],
    );
    const head = last === undefined ? "0" : headOf(numberOf(last["version"]), last["hash"] as Uint8Array);
    const its = balance.version === 0 ? "0" : headOf(balance.version, balance.headHash);
    if (head !== its) return broken("version and head_hash", head, its);
    const recent = yield* brokenInRecentEntries(organizationId, balance.version);
    const next = last && unjoined(organizationId, standingAfter(last), balance);
    const accepted = distinct([
      ...acceptedIn(stopped),
      ...inEntries(found),
      ...inEntries(recent),
      ...(next ? [next] : []),
    ]);
    yield* ask(
      `UPDATE stopped_organization SET since = NULL, violations = '[]', base = ?2,
         resumed_at = CAST(?3 AS bigint), resumed_by = ?4, resumed_reason = ?5, accepted = ?6 WHERE org_id = ?1`,
      [organizationId, printBase(baseOf(balance)), nowMs, actor.id, reason, JSON.stringify(accepted)],
    );
    const note = { actor, action: "organization.resume", organizationId, target: organizationId };
    yield* appendAuditLine({ ...note, after: { reason } }, nowMs);
    return { kind: "resumed" };
  });

const broken = (what: string, expected: bigint | string, found: bigint | string): ResumeOutcome => ({
  kind: "broken",
  what,
  expected: String(expected),
  found: String(found),
});

const standingAfter = (entry: SqlRow): { available: NanoUsd; held: NanoUsd } => ({
  available: moneyOf(entry["available_after"]),
  held: moneyOf(entry["held_after"]),
});

const headOf = (version: number, hash: Uint8Array): string =>
  `${version} ${Buffer.from(hash).toString("hex")}`;

function stopOf(row: SqlRow): Stop {
  return {
    organizationId: textOf(row["org_id"]),
    sinceMs: orNull(row["since"], numberOf),
    accepted: row["resumed_at"] !== null,
    violations: violationsIn(row["violations"]),
    base: baseIn(row["base"]),
  };
}

interface PrintedBase {
  version: number;
  head: string;
  available: string;
  held: string;
}

const printBase = ({ version, headHash, available, held }: ChainBase): string =>
  JSON.stringify({
    version,
    head: Buffer.from(headHash).toString("hex"),
    available: String(available),
    held: String(held),
  } satisfies PrintedBase);

/** Returns the beginning if the base cannot be read: the whole chain is then checked. */
function baseIn(printed: unknown): ChainBase {
  try {
    const { version, head, available, held } = JSON.parse(textOf(printed)) as PrintedBase;
    const headHash = new Uint8Array(Buffer.from(head, "hex"));
    return { version, headHash, available: usd(available), held: usd(held) };
  } catch {
    return CHAIN_BEGIN;
  }
}

const usd = (printed: string): NanoUsd => nanoUsd(BigInt(printed));
