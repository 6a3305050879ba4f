// Signed releases and the state of their routes. A release is an immutable row identified by its digest; the
// highest version of a route never decreases (hardening.md S33), whichever gateway publishes.
import type { Actor } from "../domain/actor.ts";
import type { Release } from "../domain/release.ts";
import type { RouteNames } from "../domain/route-names.ts";
import { findRelease, printFrozenRelease, storedRelease } from "../ledger/frozen-release.ts";
import type { Reader, Transactions } from "../ledger/ledger.ts";
import { readable, UnreadableRecord } from "../ledger/unreadable.ts";
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
  /** The highest version ever accepted; never decreases. */
  highestVersion: number;
  disabled: boolean;
  reason: string | null;
  sinceMs: number;
}

interface PublishedRelease {
  release: Release;
  jws: string;
  publishedAtMs: number;
  /** The publication time of the release since which the route has always had a valid one. */
  coveredSinceMs: number;
}

export type ReleaseInsertion =
  | { kind: "published" }
  | { kind: "rolled_back"; highest: number }
  | { kind: "repeated" };

/** Accepts only a version above the highest ever stored for the route. */
export const publishRelease = (
  on: Transactions,
  { release, jws }: { release: Release; jws: string },
  actor: Actor,
): Promise<ReleaseInsertion> =>
  on.change(null, function* (nowMs): Query<ReleaseInsertion> {
    const { route, version, digest, signedBy, expiresAtMs } = release;
    yield* lockListOfRoutes();
    const highest = (yield* lockRoute(route))?.highestVersion ?? 0;
    if (version === highest && (yield* standsAsSigned(digest))) return { kind: "repeated" };
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

/**
 * False if there is none, or if it is damaged: publishing the same again would repair nothing, a newer
 * version does.
 */
function* standsAsSigned(digest: string): Query<boolean> {
  try {
    return (yield* findRelease(digest)) !== null;
  } catch (error) {
    if (error instanceof UnreadableRecord) return false;
    throw error;
  }
}

/**
 * SQL expression for a route `s`: the publication time of the release since which it has always had a valid
 * one.
 */
const COVERED_SINCE = `(
  SELECT max(published_at) FROM (
    SELECT published_at, lag(expires_at) OVER (ORDER BY version) AS ended_at
    FROM route_release WHERE route = s.route
  ) AS in_order
  WHERE ended_at IS NULL OR ended_at < published_at
)`;

/**
 * A route whose newest release is missing or differs from what was signed: it serves nobody, and neither does
 * an older one.
 */
interface DamagedRelease {
  route: string;
  /** As stored, to name the route by it; null if the row is missing. */
  jws: string | null;
  /** The newest readable release before it, for the same use. */
  older: Release | null;
  /** The names stored in its row. */
  named: RouteNames | null;
}

interface NewestReleases {
  releases: PublishedRelease[];
  damaged: DamagedRelease[];
}

/** The newest release of each route, or only of `routes`; `unreadable` receives why one is damaged. */
export const newestReleases = (
  on: Reader,
  unreadable: (error: unknown) => void,
  routes?: readonly string[],
): Promise<NewestReleases> =>
  on.read(function* () {
    const found: NewestReleases = { releases: [], damaged: [] };
    for (const some of routes === undefined ? [null] : inHundreds(routes)) {
      const among = some === null ? "" : `WHERE s.route IN (${some.map((_, n) => `?${n + 1}`).join(", ")})`;
      const rows = yield* ask(
        `SELECT s.route, r.version, r.digest, r.manifest, r.jws, r.published_at, ${COVERED_SINCE} AS covered_since
         FROM route_state s LEFT JOIN route_release r ON r.route = s.route AND r.version = s.highest_version ${among}
         ORDER BY s.route`,
        [...(some ?? [])],
      );
      for (const row of rows) {
        try {
          found.releases.push(publishedOf(row));
        } catch (error) {
          unreadable(error);
          found.damaged.push(yield* damagedOf(row));
        }
      }
    }
    return found;
  });

/** The release with this digest, however old; null if there is none. */
export const readRelease = (on: Reader, digest: string): Promise<Release | null> =>
  on.read(() => findRelease(digest));

const SELECT_ROUTE = "SELECT route, highest_version, disabled, reason, since FROM route_state";

/** `digest` is that of its newest release; null if that is missing. */
export const allRoutes = (on: Reader): Promise<(RouteRecord & { digest: string | null })[]> =>
  on.read(function* () {
    const rows = yield* ask(
      `SELECT s.route, s.highest_version, s.disabled, s.reason, s.since, r.digest FROM route_state s
       LEFT JOIN route_release r ON r.route = s.route AND r.version = s.highest_version ORDER BY s.route`,
    );
    return rows.map((row) => ({ ...routeOf(row), digest: orNull(row["digest"], textOf) }));
  });

/** Null if no release was ever published for the route. */
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

/** Throws `UnreadableRecord` for a release that is missing, not what was signed, or of another route. */
function publishedOf(row: SqlRow): PublishedRelease {
  const route = textOf(row["route"]);
  const what = `the release of ${route}`;
  if (row["digest"] === null) throw new UnreadableRecord(what, "it is missing");
  const release = storedRelease(what, row);
  return readable(what, () => {
    const isOwn = release.route === route && release.version === numberOf(row["version"]);
    if (!isOwn || release.digest !== textOf(row["digest"]))
      throw new Error("it is stored in the place of another one");
    const [publishedAtMs, coveredSinceMs] = [numberOf(row["published_at"]), numberOf(row["covered_since"])];
    return { release, jws: textOf(row["jws"]), publishedAtMs, coveredSinceMs };
  });
}

/** How many earlier versions are tried: a single fault hits the newest ones, if any. */
const LOOKED_BACK = 20;

function* damagedOf(row: SqlRow): Query<DamagedRelease> {
  const route = textOf(row["route"]);
  const before = yield* ask(
    `SELECT digest, manifest, jws FROM route_release WHERE route = ?1 AND version < (
       SELECT highest_version FROM route_state WHERE route = ?1)
     ORDER BY version DESC LIMIT ${LOOKED_BACK}`,
    [route],
  );
  const older = before.flatMap((one) => readOrNone(() => storedRelease(route, one)) ?? []);
  return {
    route,
    jws: readOrNone(() => textOf(row["jws"])),
    older: older.find((release) => release.route === route) ?? null,
    named: readOrNone(() => namesIn(textOf(row["manifest"]))),
  };
}

function namesIn(manifest: string): RouteNames {
  const { model, provider, region } = JSON.parse(manifest) as Record<string, unknown>;
  if (typeof model !== "string" || typeof provider !== "string" || typeof region !== "string")
    throw new Error("it names no model, provider and region");
  return { model, provider, region };
}

/** Also null for damaged data. */
function readOrNone<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}

const routeOf = (row: SqlRow): RouteRecord => ({
  route: textOf(row["route"]),
  highestVersion: numberOf(row["highest_version"]),
  disabled: flagOf(row["disabled"]),
  reason: orNull(row["reason"], textOf),
  sinceMs: numberOf(row["since"]),
});
