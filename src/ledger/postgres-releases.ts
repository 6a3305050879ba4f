// Signed releases and the state of their routes on PostgreSQL. A release is an immutable row named by its digest; the
// highest version of a route never sinks (hardening.md S33), whichever gateway publishes.
import type { Actor } from "../contract/actor.ts";
import type { Release } from "../contract/release.ts";
import type { Ledger, RouteRecord } from "./ledger.ts";
import { appendAuditLine } from "./postgres-audit-log.ts";
import { type Cell, flag, int, text, textOrNull } from "./postgres-cell.ts";
import { type Asking, askOnce } from "./postgres-query.ts";
import { printedValue } from "./sqlite-audit-log.ts";
import { parseRelease, printRelease } from "./sqlite-releases.ts";

type Published = Awaited<ReturnType<Ledger["publishRelease"]>>;
type OnShelf = Awaited<ReturnType<Ledger["releases"]>>[number];

export async function publishRelease(
  on: Asking,
  { release, jws, actor }: { release: Release; jws: string; actor: Actor },
  nowMs: number,
): Promise<Published> {
  const { route, version, digest } = release;
  const highest = (await readRoute(on, route, "FOR UPDATE"))?.highestVersion ?? 0;
  if (version === highest && (await findRelease(on, digest)) !== null) return { kind: "repeated" };
  if (version <= highest) return { kind: "rolled_back", highest };
  await askOnce(
    on,
    `INSERT INTO route_release (route, version, digest, jws, manifest, signed_by, expires_at, published_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [route, version, digest, jws, printRelease(release), release.signedBy, release.expiresAtMs, nowMs],
  );
  await askOnce(
    on,
    `INSERT INTO route_state AS had (route, highest_version, disabled, since) VALUES ($1, $2, false, $3)
     ON CONFLICT (route) DO UPDATE SET highest_version = excluded.highest_version
     WHERE had.highest_version < excluded.highest_version`,
    [route, version, nowMs],
  );
  const before = highest === 0 ? null : printedValue({ version: highest });
  const after = printedValue({ version, digest, signed_by: release.signedBy });
  await log(on, route, { actor, action: "release.publish", before, after, atMs: nowMs });
  return { kind: "published" };
}

/** Newest release of each route. */
export async function newestReleases(on: Asking): Promise<OnShelf[]> {
  const rows = await askOnce(
    on,
    `SELECT r.manifest, r.jws, r.published_at FROM route_state s
     JOIN route_release r ON r.route = s.route AND r.version = s.highest_version ORDER BY s.route`,
  );
  return rows.map(([manifest, jws, publishedAt]) => ({
    release: parseRelease(text(manifest)),
    jws: text(jws),
    publishedAtMs: int(publishedAt),
  }));
}

export async function findRelease(on: Asking, digest: string): Promise<Release | null> {
  const [row] = await askOnce(on, "SELECT manifest FROM route_release WHERE digest = $1", [digest]);
  return row === undefined ? null : parseRelease(text(row[0]));
}

const SELECT_ROUTE = "SELECT route, highest_version, disabled, reason, since FROM route_state";

export async function allRoutes(on: Asking): Promise<RouteRecord[]> {
  return (await askOnce(on, `${SELECT_ROUTE} ORDER BY route`)).map(routeOf);
}

/** Null when no release was ever published for the route. */
export async function setRouteDisabled(
  on: Asking,
  change: { route: string; disabled: boolean; reason: string | null; actor: Actor },
  nowMs: number,
): Promise<RouteRecord | null> {
  const { route, disabled, actor } = change;
  const found = await readRoute(on, route, "FOR UPDATE");
  const reason = disabled ? change.reason : null;
  if (found === null || (found.disabled === disabled && found.reason === reason)) return found;
  const sinceMs = found.disabled === disabled ? found.sinceMs : nowMs;
  await askOnce(on, "UPDATE route_state SET disabled = $2, reason = $3, since = $4 WHERE route = $1", [
    route,
    disabled,
    reason,
    sinceMs,
  ]);
  const before = printedValue({ disabled: found.disabled, reason: found.reason });
  const after = printedValue({ disabled, reason });
  await log(on, route, {
    actor,
    action: disabled ? "route.disable" : "route.enable",
    before,
    after,
    atMs: nowMs,
  });
  return { ...found, disabled, reason, sinceMs };
}

async function readRoute(on: Asking, route: string, lock: "FOR UPDATE"): Promise<RouteRecord | null> {
  const [row] = await askOnce(on, `${SELECT_ROUTE} WHERE route = $1 ${lock}`, [route]);
  return row === undefined ? null : routeOf(row);
}

async function log(
  on: Asking,
  route: string,
  line: { actor: Actor; action: string; before: string | null; after: string; atMs: number },
): Promise<void> {
  await appendAuditLine(on, { ...line, organizationId: null, target: route });
}

const routeOf = ([route, highestVersion, disabled, reason, since]: Cell[]): RouteRecord => ({
  route: text(route),
  highestVersion: int(highestVersion),
  disabled: flag(disabled),
  reason: textOrNull(reason),
  sinceMs: int(since),
});
