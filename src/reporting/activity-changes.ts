// What a live tail reads each second. Dozens of pages may read at the same time, mostly what they have seen before: the
// version of each request is read first, and then only the rows that are new or have changed.
import { from, rowsOf } from "../store/query.ts";
import { type ActivityPorts, labelled } from "./activity.ts";
import { type ActivityQuery, newestOfRequestLog, newestRequests } from "./activity-filter.ts";
import { LOOKED_AT, reachOf } from "./activity-reach.ts";
import { type ActivityRow, REQUEST_COLUMNS } from "./activity-rows.ts";
import { windowIfAsked } from "./windows.ts";

/** Versions of requests by id, newest first. */
export type SeenVersions = ReadonlyMap<string, Version>;
interface Version {
  /** Differs whenever the row does. */
  of: string;
  running: boolean;
}

interface Look {
  organizationId: string;
  query: Pick<ActivityQuery, "from" | "key" | "model">;
  /** The result of the previous query; empty for the first. */
  before: SeenVersions;
}

/** A query covers this many of the newest requests, */
const NEWEST = 200;
/** and this many older ones that were still running: as many as a page keeps. */
const OVERTAKEN = 500;

/** The rows that are new or have changed since the previous query, oldest first. */
export async function activityChanges(
  on: ActivityPorts,
  { organizationId, query, before }: Look,
): Promise<{ seen: SeenVersions; rows: ActivityRow[] }> {
  await on.flushRequestLog();
  const newest = await newestOf(on, organizationId, query);
  const overtaken = [...before].filter(([id, { running }]) => running && !newest.has(id)).map(([id]) => id);
  const seen = new Map([...newest, ...(await versionsOf(on, organizationId, overtaken.slice(0, OVERTAKEN)))]);
  const changed = [...seen].filter(([id, version]) => version.of !== before.get(id)?.of).map(([id]) => id);
  return { seen, rows: (await rowsNamed(on, organizationId, changed)).toReversed() };
}

async function newestOf(
  { sql, clock }: ActivityPorts,
  organizationId: string,
  query: Look["query"],
): Promise<SeenVersions> {
  const unbounded = { organizationId, query, window: windowIfAsked(query, clock.nowMs()) };
  const filter = { ...unbounded, reach: await reachOf(sql, unbounded, LOOKED_AT) };
  const held = newestRequests(sql, filter, NEWEST).clearSelect().select(["request_id", "state", "hold"]);
  const logged = newestOfRequestLog(filter, NEWEST).clearSelect().select(["request_id", "requests"]);
  const versions: [string, Version][] = [
    ...(await rowsOf(sql, held)).map(versionOf),
    ...(await rowsOf(sql, logged)).map(({ request_id: id, requests }): [string, Version] => [
      id,
      { of: `${requests}`, running: false },
    ]),
  ];
  return new Map(versions.toSorted(([a], [b]) => (a < b ? 1 : -1)).slice(0, NEWEST));
}

async function versionsOf(
  { sql }: ActivityPorts,
  organizationId: string,
  ids: string[],
): Promise<SeenVersions> {
  if (ids.length === 0) return new Map();
  const query = from
    .selectFrom("request")
    .select(["request_id", "state", "hold"])
    .where("org_id", "=", organizationId)
    .where("request_id", "in", ids)
    .orderBy("request_id", "desc");
  return new Map((await rowsOf(sql, query)).map(versionOf));
}

/** A running request changes when its hold is lowered, and when it ends; nothing changes after that. */
const versionOf = ({
  request_id: id,
  state,
  hold,
}: {
  request_id: string;
  state: string;
  hold: bigint;
}): [string, Version] => [
  id,
  { of: `${state} ${hold}`, running: state !== "settled" && state !== "released" },
];

async function rowsNamed(on: ActivityPorts, organizationId: string, ids: string[]): Promise<ActivityRow[]> {
  if (ids.length === 0) return [];
  const held = from
    .selectFrom("request")
    .select(REQUEST_COLUMNS)
    .where("org_id", "=", organizationId)
    .where("request_id", "in", ids);
  const logged = from
    .selectFrom("journal")
    .selectAll()
    .where("org_id", "=", organizationId)
    .where("request_id", "in", ids);
  return await labelled(on, organizationId, {
    held: await rowsOf(on.sql, held),
    logged: await rowsOf(on.sql, logged),
  });
}
