// Signed releases and the state of their routes. A release is an immutable row named by its digest; the highest version of
// a route never sinks (hardening.md S33), whichever gateway publishes.
import type { Actor } from "../domain/actor.ts";
import type { Release } from "../domain/release.ts";
import { findRelease, printFrozenRelease, storedRelease } from "../ledger/frozen-release.ts";
import type { Reader, Transactions } from "../ledger/ledger.ts";
import { appendAuditLine } from "../store/audit-log.ts";
import { ANY_FOR_EACH, lockListOfRoutes } from "./rate-limits.ts";
import {
  ask,
  flagOf,
  inHundreds,
  lock,
  numberOf,
  orNull,
  type Query,
  type SqlRow,
  textOf,
} from "../store/sql.ts";

export interface RouteRecord {
  route: string;
  /** The highest version ever accepted; never sinks. */
  highestVersion: number;
  disabled: boolean;
  reason: string | null;
  sinceMs: number;
}

export interface PublishedRelease {
  release: Release;
  jws: string;
  publishedAtMs: number;
  /** When the release came since which its route was without one for no moment. */
  coveredSinceMs: number;
}

export type PublishOutcome =
  | { kind: "published" }
  | { kind: "rolled_back"; highest: number }
  | { kind: "repeated" };

/** Accepts only a version above the highest ever stored for the route. */
export const publishRelease = (
  on: Transactions,
  { release, jws }: { release: Release; jws: string },
  actor: Actor,
): Promise<PublishOutcome> =>
  on.change(null, function* (nowMs): Query<PublishOutcome> {
    const { route, version, digest, signedBy, expiresAtMs } = release;
    yield* lockListOfRoutes();
    const highest = (yield* lockRoute(route))?.highestVersion ?? 0;
    if (version === highest && (yield* findRelease(digest)) !== null) return { kind: "repeated" };
    if (version <= highest) return { kind: "rolled_back", highest };
    yield* ask(
      `INSERT INTO route_release (route, version, digest, jws, manifest, signed_by, expires_at, published_at)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)`,
      [route, version, digest, jws, printFrozenRelease(release), signedBy, expiresAtMs, nowMs],
    );
    yield* ask(
      `INSERT INTO route_state AS had (route, highest_version, disabled, since, limited) VALUES (?1, ?2, ?3, ?4, ${ANY_FOR_EACH})
       ON CONFLICT (route) DO UPDATE SET highest_version = excluded.highest_version
       WHERE had.highest_version < excluded.highest_version`,
      [route, version, false, nowMs],
    );
    const before = highest === 0 ? null : { version: highest };
    const after = { version, digest, signed_by: signedBy };
    const note = { actor, action: "release.publish", organizationId: null, target: route, before, after };
    yield* appendAuditLine(note, nowMs);
    return { kind: "published" };
  });

/** When the release came since which a route `s` was without one for no moment. */
const COVERED_SINCE = `(
  SELECT max(published_at) FROM (
    SELECT published_at, lag(expires_at) OVER (ORDER BY version) AS ended_at
    FROM route_release WHERE route = s.route
  ) AS in_order
  WHERE ended_at IS NULL OR ended_at < published_at
)`;

/** Newest release of each route, or of `routes` alone; one that is damaged is told of and left out, which closes its route. */
export const newestReleases = (
  on: Reader,
  unreadable: (error: unknown) => void,
  routes?: readonly string[],
): Promise<PublishedRelease[]> =>
  on.read(function* () {
    const found: SqlRow[] = [];
    for (const some of routes === undefined ? [null] : inHundreds(routes)) {
      const among = some === null ? "" : `WHERE s.route IN (${some.map((_, n) => `?${n + 1}`).join(", ")})`;
      const rows = yield* ask(
        `SELECT r.manifest, r.jws, r.published_at, r.route, ${COVERED_SINCE} AS covered_since FROM route_state s
         JOIN route_release r ON r.route = s.route AND r.version = s.highest_version ${among} ORDER BY s.route`,
        [...(some ?? [])],
      );
      found.push(...rows);
    }
    return found.flatMap((row) => publishedOf(row, unreadable));
  });

/** The release of this digest, however old; null when there is none. */
export const readRelease = (on: Reader, digest: string): Promise<Release | null> =>
  on.read(() => findRelease(digest));

/** Whether the newest release of any route is of this model, open or not. */
export const isModelReleased = async (on: Reader, model: string): Promise<boolean> =>
  (await newestReleases(on, () => {})).some(({ release }) => release.model === model);

const SELECT_ROUTE = "SELECT route, highest_version, disabled, reason, since FROM route_state";

/** `digest`: of its newest release; null where that is gone. */
export const allRoutes = (on: Reader): Promise<(RouteRecord & { digest: string | null })[]> =>
  on.read(function* () {
    const rows = yield* ask(
      `SELECT s.route, s.highest_version, s.disabled, s.reason, s.since, r.digest FROM route_state s
       LEFT JOIN route_release r ON r.route = s.route AND r.version = s.highest_version ORDER BY s.route`,
    );
    return rows.map((row) => ({ ...routeOf(row), digest: orNull(row["digest"], textOf) }));
  });

/** Null when no release was ever published for the route. */
export const setRouteDisabled = (
  on: Transactions,
  { route, disabled, ...change }: { route: string; disabled: boolean; reason: string | null },
  actor: Actor,
): Promise<RouteRecord | null> =>
  on.change(null, function* (nowMs) {
    const found = yield* lockRoute(route);
    const reason = disabled ? change.reason : null;
    if (found === null || (found.disabled === disabled && found.reason === reason)) return found;
    const sinceMs = found.disabled === disabled ? found.sinceMs : nowMs;
    yield* ask("UPDATE route_state SET disabled = ?2, reason = ?3, since = ?4 WHERE route = ?1", [
      route,
      disabled,
      reason,
      sinceMs,
    ]);
    const action = disabled ? "route.disable" : "route.enable";
    const before = { disabled: found.disabled, reason: found.reason };
    const after = { disabled, reason };
    yield* appendAuditLine({ actor, action, organizationId: null, target: route, before, after }, nowMs);
    return { ...found, disabled, reason, sinceMs };
  });

function* lockRoute(route: string): Query<RouteRecord | null> {
  const [row] = yield* lock(`${SELECT_ROUTE} WHERE route = ?1`, [route]);
  return row === undefined ? null : routeOf(row);
}

function publishedOf(row: SqlRow, unreadable: (error: unknown) => void): PublishedRelease[] {
  try {
    const what = `the release of ${textOf(row["route"])}`;
    const release = storedRelease(what, row);
    const [publishedAtMs, coveredSinceMs] = [numberOf(row["published_at"]), numberOf(row["covered_since"])];
    return [{ release, jws: textOf(row["jws"]), publishedAtMs, coveredSinceMs }];
  } catch (error) {
    unreadable(error);
    return [];
  }
}

const routeOf = (row: SqlRow): RouteRecord => ({
  route: textOf(row["route"]),
  highestVersion: numberOf(row["highest_version"]),
  disabled: flagOf(row["disabled"]),
  reason: orNull(row["reason"], textOf),
  sinceMs: numberOf(row["since"]),
});
