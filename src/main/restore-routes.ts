// Keeps what was published and disabled after a backup was made when it is restored: a route's highest
// version never decreases, and an older release is stale (specification 1). Releases carry their signatures,
// and are verified when they are loaded.
import { placesFrom } from "../store/sql.ts";
import { addLines, columnNames, type Restoring, sharedColumns } from "./restoring.ts";

const ACTIONS = ["release.publish", "route.disable", "route.enable"];

interface RouteState {
  route: string;
  highest_version: bigint;
  disabled: bigint;
  reason: string | null;
  since: bigint;
}

/**
 * Adds the replaced store's releases and route states to the backup's copy. Returns the number of routes
 * changed.
 */
export function keepRoutes(on: Restoring): number {
  addReleases(on);
  const states = on.replaced
    .query<RouteState, []>("SELECT route, highest_version, disabled, reason, since FROM route_state")
    .all();
  const changed = states.filter((state) => keepState(on, state));
  addLines(on, { targets: changed.map(({ route }) => route), actions: ACTIONS });
  return changed.length;
}

function addReleases(on: Restoring): void {
  const columns = sharedColumns(on, "route_release");
  const add = on.copy.query(
    `INSERT OR IGNORE INTO route_release (${columns.join(", ")}) VALUES (${placesFrom(1, columns)})`,
  );
  const known = on.copy.query("SELECT max(version) FROM route_release WHERE route = ?1");
  const routes = on.replaced.query("SELECT DISTINCT route FROM route_release").values() as [string][];
  const newer = on.replaced.query(
    `SELECT ${columns.join(", ")} FROM route_release WHERE route = ?1 AND version > ?2`,
  );
  for (const [route] of routes)
    for (const release of newer.values(route, (known.values(route)[0]?.[0] as bigint | null) ?? 0n))
      add.run(...(release as string[]));
}

/** True if the copy had another state. */
function keepState(
  { copy }: Restoring,
  { route, highest_version, disabled, reason, since }: RouteState,
): boolean {
  // If limits are stored, requests on the route read them: one may have been set for every model.
  const limited = columnNames(copy, "route_state").includes("limited") ? ["limited"] : [];
  const { changes } = copy
    .query(
      `INSERT INTO route_state AS had (${["route", "highest_version", "disabled", "reason", "since", ...limited].join(", ")})
       VALUES (${["?1", "?2", "?3", "?4", "?5", ...limited.map(() => "1")].join(", ")})
       ON CONFLICT (route) DO UPDATE SET highest_version = max(had.highest_version, excluded.highest_version),
         disabled = excluded.disabled, reason = excluded.reason, since = excluded.since
       WHERE had.highest_version < excluded.highest_version OR had.disabled <> excluded.disabled`,
    )
    .run(route, highest_version, disabled, reason, since);
  return changes > 0;
}
