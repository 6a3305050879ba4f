// What is set of rates, by an operator or by the organization itself: under the lock of its organization, so that it holds for
// every request that starts after the change has returned, on every gateway (operate.md §1). What was taken stays taken.
import type { Actor } from "../domain/actor.ts";
import {
  NO_RATE_LIMITS,
  type RateDefaults,
  type RateDimension,
  RATE_DIMENSIONS,
  type RateLimits,
  type RatePlace,
} from "../domain/rate-limits.ts";
import { isStale, versionOf } from "../domain/row-version.ts";
import { lockOrganization } from "../ledger/balance.ts";
import type { Loaded } from "../ledger/column-loads.ts";
import { LOAD } from "../ledger/columns.ts";
import type { Changing, Reader, Transactions } from "../ledger/ledger.ts";
import {
  allowed,
  inForce,
  mendRate,
  ownOf,
  soundCount,
  standardOf,
  subjectOf,
  unsetRow,
} from "../ledger/rate-in-force.ts";
import { countRunning } from "../ledger/rate-running.ts";
import { camelCase } from "../lib/camel-case.ts";
import { microseconds, rescaled } from "../limits/gcra.ts";
import { appendAuditLine } from "../store/audit-log.ts";
import { ask, flagOf, lock, type Query, type SqlRow } from "../store/sql.ts";

type Row = Loaded<typeof LOAD.rateLimit>;

export interface RateChange extends RatePlace {
  /** What is left out stays as it is; null lifts it. */
  limits: Partial<RateLimits>;
  /** Whose word it is: an operator's, or the organization's own, which may only be lower. */
  by: "operator" | "organization";
  /** Of what it was made on; without one it is made on anything. */
  version?: string | undefined;
}

export interface RateRecord extends RatePlace {
  /** Of an operator. */
  set: RateLimits;
  own: RateLimits;
  /** What holds of all that, with what is the default. */
  inForce: RateLimits;
  /** Requests of it that run now. */
  running: number;
  /** Of both words (`domain/row-version.ts`). */
  version: string;
}

export type RateOutcome =
  | { kind: "set"; record: RateRecord }
  | { kind: "unknown_organization" }
  | { kind: "unknown_key" }
  | { kind: "revoked_key" }
  | { kind: "changed_meanwhile" }
  /** Above what an operator allows. */
  | { kind: "above"; dimension: RateDimension; atMost: number }
  | { kind: "too_many" };

/** Of one organization, as they are listed. */
const RATE_LIMITS_MAX = 1000;

/**
 * Sets or lifts limits of one subject, with a line of the audit log. The version is compared under the lock: of two changes
 * of one version, on whichever gateways, the second one is refused.
 */
export const setRateLimits = (
  on: Transactions,
  change: RateChange,
  { defaults, actor }: { defaults: RateDefaults; actor: Actor },
): Promise<RateOutcome> =>
  on.change(inLine(change, actor), function* (nowMs): Query<RateOutcome> {
    const { organizationId } = change;
    const newestMs =
      organizationId === "" ? yield* lockRoutes(nowMs) : yield* lockOrganization(organizationId);
    if (newestMs === null) return { kind: "unknown_organization" };
    const refused = yield* keyRefused(change);
    if (refused !== null) return refused;
    const found = yield* findRow(change);
    const atMs = Math.max(nowMs, newestMs);
    const before = found ?? (yield* newRow(change, atMs));
    mendRate(before, microseconds(nowMs));
    if (isStale(change.version, versionOf("rate_limits", before))) return { kind: "changed_meanwhile" };
    if (found === null && (yield* isFull(organizationId))) return { kind: "too_many" };
    const standard = yield* standardFor(change, defaults);
    const after = { ...before, ...asColumns(change) };
    const above = change.by === "organization" ? aboveAllowed(ownOf(after), allowed(after, standard)) : null;
    if (above !== null) return above;
    yield* write(settled(after, { before, standard, nowMs, atMs }));
    yield* mark(organizationId);
    yield* note(change, { before, after, actor, nowMs });
    return { kind: "set", record: recordOf(after, standard) };
  });

/** Those for all organizations lock the routes instead. */
const inLine = ({ organizationId }: RateChange, { id }: Actor): Changing | null =>
  organizationId === "" ? null : { organizationId, by: id };

export interface RatesWithin {
  organizationId: string;
  /** Of this key alone. */
  keyId?: string | undefined;
  /** On this model alone. */
  model?: string | undefined;
}

/** Those of which something is set, within an organization; within none: of models for each organization. */
export const rateLimitsOf = (
  on: Reader,
  { organizationId, keyId, model }: RatesWithin,
  defaults: RateDefaults,
): Promise<RateRecord[]> =>
  on.read(function* () {
    const named = Object.entries({ key_id: keyId, model }).filter(([, value]) => value !== undefined);
    const only = named.map(([column], index) => `AND ${column} = ?${index + 2}`).join(" ");
    const rows = yield* ask(
      `SELECT ${COLUMNS} FROM rate_limit WHERE org_id = ?1 ${only} AND ${ANYTHING_SET}
       ORDER BY key_id, model LIMIT ${RATE_LIMITS_MAX}`,
      [organizationId, ...named.map(([, value]) => value ?? "")],
    );
    const records: RateRecord[] = [];
    for (const found of rows) {
      const row = LOAD.rateLimit.named(found);
      records.push(recordOf(row, yield* standardFor(row, defaults)));
    }
    return records;
  });

/** What holds for one subject, whether anything of it is set or not. */
export const findRateLimits = (on: Reader, place: RatePlace, defaults: RateDefaults): Promise<RateRecord> =>
  on.read(function* () {
    const found = yield* findRow(place);
    return recordOf(found ?? unsetRow(place, { running: 0, since: 0 }), yield* standardFor(place, defaults));
  });

const COLUMNS = LOAD.rateLimit.columns.map(({ column }) => column).join(", ");
const ANYTHING_SET = `(${RATE_DIMENSIONS.flatMap((name) => [name, `own_${name}`])
  .map((column) => `${column} IS NOT NULL`)
  .join(" OR ")})`;

function* findRow({ organizationId, keyId, model }: RatePlace): Query<Row | null> {
  const [row] = yield* ask(
    `SELECT ${COLUMNS} FROM rate_limit WHERE org_id = ?1 AND key_id = ?2 AND model = ?3`,
    [organizationId, keyId, model],
  );
  return row === undefined ? null : LOAD.rateLimit.named(row);
}

function* isFull(organizationId: string): Query<boolean> {
  const rows = yield* ask(
    `SELECT 1 FROM rate_limit WHERE org_id = ?1 AND ${ANYTHING_SET} LIMIT ${RATE_LIMITS_MAX}`,
    [organizationId],
  );
  return rows.length === RATE_LIMITS_MAX;
}

function* keyRefused({ organizationId, keyId }: RatePlace): Query<RateOutcome | null> {
  if (keyId === "") return null;
  const [row] = yield* ask(
    "SELECT revoked_at IS NOT NULL AND paused_at IS NULL AS over FROM api_key WHERE org_id = ?1 AND key_id = ?2",
    [organizationId, keyId],
  );
  if (row === undefined) return { kind: "unknown_key" };
  return flagOf(row["over"]) ? { kind: "revoked_key" } : null;
}

/** What holds where nothing is set for the subject itself. */
function* standardFor(place: RatePlace, defaults: RateDefaults): Query<RateLimits> {
  if (place.organizationId === "") return NO_RATE_LIMITS;
  const subject = subjectOf(place);
  const ofEach =
    subject === "model" ? yield* findRow({ organizationId: "", keyId: "", model: place.model }) : null;
  return standardOf(subject, { defaults, ofEach: ofEach ?? undefined });
}

/** Those that run already count; the tokens that they reserved do not. */
function* newRow(place: RatePlace, atMs: number): Query<Row> {
  const running = place.organizationId === "" ? 0 : yield* countRunning(place);
  return unsetRow(place, { running, since: atMs });
}

function asColumns({ limits, by }: RateChange): Partial<Row> {
  if (by === "operator") return limits;
  const { requestsPerMinute, tokensPerMinute, concurrent } = limits;
  return {
    ...(requestsPerMinute !== undefined && { ownRequestsPerMinute: requestsPerMinute }),
    ...(tokensPerMinute !== undefined && { ownTokensPerMinute: tokensPerMinute }),
    ...(concurrent !== undefined && { ownConcurrent: concurrent }),
  };
}

function aboveAllowed(own: RateLimits, most: RateLimits): RateOutcome | null {
  for (const dimension of RATE_DIMENSIONS) {
    const field = camelCase(dimension);
    const [wanted, atMost] = [own[field], most[field]];
    if (wanted !== null && atMost !== null && wanted > atMost) return { kind: "above", dimension, atMost };
  }
  return null;
}

/** What was taken under the limit before is as much under the one after. */
function settled(
  after: Row,
  { before, standard, nowMs, atMs }: { before: Row; standard: RateLimits; nowMs: number; atMs: number },
): Row {
  const nowUs = microseconds(nowMs);
  const [from, to] = [inForce(before, standard), inForce(after, standard)];
  const moved = (tat: number, field: "requestsPerMinute" | "tokensPerMinute"): number => {
    const [was, is] = [from[field], to[field]];
    return was === null || is === null || was === is ? tat : rescaled(tat, nowUs, { from: was, to: is });
  };
  const begins = from.tokensPerMinute === null && to.tokensPerMinute !== null;
  return {
    ...after,
    since: begins ? atMs : after.since,
    requestsTat: moved(after.requestsTat, "requestsPerMinute"),
    tokensTat: moved(after.tokensTat, "tokensPerMinute"),
    usedTat: moved(after.usedTat, "tokensPerMinute"),
  };
}

function* write(row: Row): Query<void> {
  const { columns } = LOAD.rateLimit;
  const places = columns.map((_, index) => `?${index + 1}`).join(", ");
  const changes = columns.map(({ column }) => `${column} = excluded.${column}`).join(", ");
  yield* ask(
    `INSERT INTO rate_limit (${COLUMNS}) VALUES (${places})
     ON CONFLICT (org_id, key_id, model) DO UPDATE SET ${changes}`,
    columns.map(({ field }) => row[field as keyof Row]),
  );
}

/** What is set for each organization belongs to none of them: every route is marked with it, in the order of their names. */
function* lockRoutes(nowMs: number): Query<number> {
  yield* lockListOfRoutes();
  yield* lock("SELECT route FROM route_state ORDER BY route", []);
  return nowMs;
}

/**
 * First of all locks, of whoever adds a route and of whoever marks all of them: what one of two is about to write the other
 * cannot see, so they come one after the other.
 */
export const lockListOfRoutes = (): Query<SqlRow[]> => lock("SELECT id FROM store_state WHERE id = 1", []);

/** Whoever loads the organization, or a route, looks for limits from now on. */
function* mark(organizationId: string): Query<void> {
  if (organizationId !== "")
    yield* ask("UPDATE org_balance SET limited = 1 WHERE org_id = ?1 AND slot = 0", [organizationId]);
  else yield* ask(`UPDATE route_state SET limited = ${ANY_FOR_EACH}`);
}

/** 1 where something is set on a model for every organization. */
export const ANY_FOR_EACH = `(SELECT count(*) FROM (SELECT 1 FROM rate_limit WHERE org_id = '' AND ${ANYTHING_SET} LIMIT 1) AS found)`;

function* note(
  { organizationId, keyId, model, by }: RateChange,
  { before, after, actor, nowMs }: { before: Row; after: Row; actor: Actor; nowMs: number },
): Query<void> {
  const told = by === "operator" ? (row: Row): RateLimits => row : ownOf;
  const printed = (row: Row): Record<string, number | null> =>
    Object.fromEntries(RATE_DIMENSIONS.map((name) => [name, told(row)[camelCase(name)]]));
  const subject = { ...(model !== "" && { model }), set_by: by };
  yield* appendAuditLine(
    {
      actor,
      action: "limits.set",
      organizationId: organizationId === "" ? null : organizationId,
      target: keyId !== "" ? keyId : organizationId !== "" ? organizationId : model,
      before: { ...subject, ...printed(before) },
      after: { ...subject, ...printed(after) },
    },
    nowMs,
  );
}

const recordOf = (row: Row, standard: RateLimits): RateRecord => ({
  organizationId: row.organizationId,
  keyId: row.keyId,
  model: row.model,
  set: {
    requestsPerMinute: row.requestsPerMinute,
    tokensPerMinute: row.tokensPerMinute,
    concurrent: row.concurrent,
  },
  own: ownOf(row),
  inForce: inForce(row, standard),
  running: soundCount(row.running),
  version: versionOf("rate_limits", row),
});
