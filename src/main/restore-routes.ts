// What was published and disabled stays so over a restore of a backup that is older than that: a route's highest version never
// sinks, and an older release is stale (specification 1). Releases carry their signatures, and are verified when they are loaded.
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

/** Gives the backup's copy the releases and states of routes of the store that it replaces. Answers how many routes that changed. */
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

/** Whether the copy's was another one. */
function keepState(
  { copy }: Restoring,
  { route, highest_version, disabled, reason, since }: RouteState,
): boolean {
  // Where limits are kept, whoever calls it looks for them: one may have been set for every model.
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
