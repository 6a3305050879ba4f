// Rate limits set by an operator or by the organization itself, under the lock of its organization, so that a
// change that has returned applies to every request that starts afterwards, on every gateway (operate.md §1).
// Usage already counted stays counted.
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
  /** Omitted limits stay unchanged; null removes a limit. */
  limits: Partial<RateLimits>;
  /** Who sets them: an operator, or the organization itself, which may only set lower ones. */
  by: "operator" | "organization";
  /** The version that the change is based on; without it, the change applies to any version. */
  version?: string | undefined;
}

export interface RateRecord extends RatePlace {
  /** Set by an operator. */
  set: RateLimits;
  own: RateLimits;
  /** The limits that apply, defaults included. */
  inForce: RateLimits;
  /** The number of requests running now. */
  running: number;
  /** The version of both sets of limits (`domain/row-version.ts`). */
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

/** The most listed for one organization. */
const RATE_LIMITS_MAX = 1000;

/**
 * Sets or removes limits of one subject and writes an audit line. The version is compared under the lock: of
 * two changes of one version, on any gateways, the second is refused.
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

/** Limits for all organizations lock the routes instead. */
const inLine = ({ organizationId }: RateChange, { id }: Actor): Changing | null =>
  organizationId === "" ? null : { organizationId, by: id };

export interface RatesWithin {
  organizationId: string;
  /** Only this key. */
  keyId?: string | undefined;
  /** Only this model. */
  model?: string | undefined;
}

/**
 * The subjects within an organization that have a limit set; with an empty organization, the models that have
 * one for each organization.
 */
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

/** The limits of one subject, whether any are set or not. */
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

/** The limits that apply if nothing is set for the subject itself. */
function* standardFor(place: RatePlace, defaults: RateDefaults): Query<RateLimits> {
  if (place.organizationId === "") return NO_RATE_LIMITS;
  const subject = subjectOf(place);
  const ofEach =
    subject === "model" ? yield* findRow({ organizationId: "", keyId: "", model: place.model }) : null;
  return standardOf(subject, { defaults, ofEach: ofEach ?? undefined });
}

/** Requests already running count; the tokens that they reserved do not. */
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

/** Carries the usage under the old limit over to the new one. */
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

/**
 * A limit that applies to each organization separately belongs to none of them: it is marked on every route of the
 * model instead, in the order of the routes' names.
 */
function* lockRoutes(nowMs: number): Query<number> {
  yield* lockListOfRoutes();
  yield* lock("SELECT route FROM route_state ORDER BY route", []);
  return nowMs;
}

/**
 * The first of all locks, both for adding a route and for marking all routes: neither sees what the other is
 * about to write, so they run one after the other.
 */
export const lockListOfRoutes = (): Query<SqlRow[]> => lock("SELECT id FROM store_state WHERE id = 1", []);

/** From now on, loading the organization or a route also reads limits. */
function* mark(organizationId: string): Query<void> {
  if (organizationId !== "")
    yield* ask("UPDATE org_balance SET limited = 1 WHERE org_id = ?1 AND slot = 0", [organizationId]);
  else yield* ask(`UPDATE route_state SET limited = ${ANY_FOR_EACH}`);
}

/** 1 if a limit is set on any model for every organization. */
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
