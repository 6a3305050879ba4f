// Routes and releases for operators: the state of each route, what a signed file would change, what was
// published.
import { PUBLISHED_CAPABILITIES } from "../domain/capabilities.ts";
import { PAGE_ROWS } from "../domain/page-rows.ts";
import { comparePrices } from "../domain/price-comparison.ts";
import { allRoutes } from "../registry/releases.ts";
import { OperatorRefusal } from "../domain/operator-refusals.ts";
import type * as releasesShapes from "../api/shapes/releases.ts";
import type { z } from "zod";
import type { People } from "../people/people.ts";
import type { Release } from "../domain/release.ts";
import type { Reader } from "../ledger/ledger.ts";
import type { Clock } from "../lib/clock.ts";
import type { Publisher } from "../releases/publish.ts";
import { listedLost, listedStanding, type LostRoute } from "../releases/standing.ts";
import { from, rowsOf, when } from "../store/query.ts";
import type { Sql } from "../store/sql.ts";
import { printTime } from "../domain/print.ts";
import { printRelease, printRoute } from "./print-release.ts";
import { unknownRecord } from "../domain/unknown-record.ts";
import { priceOf } from "./catalogue.ts";
import { modelUse } from "./model-use.ts";
import { rowCursor } from "./cursors.ts";
import type { Tables } from "../store/tables.ts";
import type { LabelBook } from "./labels.ts";
import { sinceRequest } from "./request-time.ts";

type RouteRow = z.output<typeof releasesShapes.routeList>["data"][number];
type Verified = z.output<typeof releasesShapes.verifiedRelease>;

export interface RoutesPorts {
  sql: Sql;
  clock: Clock;
  ledger: Reader;
  labels: LabelBook;
  people: Pick<People, "persons">;
  publisher: Pick<Publisher, "standings" | "lost" | "trustedKeys" | "verify">;
}

const RECENT_MS = 5 * 60_000;
const LIVE_MS = 60_000;

/** Throws `OperatorRefusal` if there is none with this name. */
export async function routeRow(on: RoutesPorts, route: string): Promise<RouteRow> {
  const row = (await routeRows(on, route))[0];
  if (row === undefined) throw unknownRecord("route", route, "route");
  return row;
}

/** What a signed file would change. Throws `OperatorRefusal` if it cannot be published. */
export async function previewRelease(on: RoutesPorts, jws: string): Promise<Verified> {
  const outcome = await on.publisher.verify(jws.trim());
  if (outcome.kind === "refused")
    throw new OperatorRefusal("release_refused", outcome.reason, outcome.param, outcome.step);
  const live =
    on.publisher.standings().find(({ release }) => release.route === outcome.release.route) ?? null;
  return {
    release: printRelease(outcome.release, live?.state ?? "live"),
    live: live === null ? null : printRelease(live.release, live.state),
    changes: changesOf(live?.release ?? null, outcome.release),
    prices: comparePrices(live?.release.publishedPrice ?? null, outcome.release.publishedPrice),
    use: await modelUse(on, outcome.release.model),
  };
}

/** Releases by time of publication, newest first. Throws for a route that never had one. */
export async function releasesPage(
  on: RoutesPorts,
  { route, cursor, limit = PAGE_ROWS }: z.output<typeof releasesShapes.releasesQuery>,
): Promise<z.output<typeof releasesShapes.releaseHistory>> {
  if (route !== undefined && route !== "" && !(await isReleased(on.sql, "route", route)))
    throw unknownRecord("route", route, "route");
  const after = await rowCursor(cursor, (digest) => isReleased(on.sql, "digest", digest));
  const query = from
    .selectFrom("route_release")
    .select(["digest", "route", "published_at"])
    .where((eb) =>
      eb.and([
        ...when(route, (name) => eb("route", "=", name)),
        // Of releases with the same time, the higher version is newer; the digest orders the rest.
        ...when(after ?? undefined, (last) =>
          eb(
            eb.refTuple("published_at", "version", "digest"),
            "<",
            eb
              .selectFrom("route_release as last")
              .select(["last.published_at", "last.version", "last.digest"])
              .where("last.digest", "=", last)
              .$asTuple("published_at", "version", "digest"),
          ),
        ),
      ]),
    )
    .orderBy("published_at", "desc")
    .orderBy("version", "desc")
    .orderBy("digest", "desc")
    .limit(limit + 1);
  const rows = await rowsOf(on.sql, query);
  const releases = await on.labels.releasesOf(rows.map((row) => row.digest));
  const publisher = await publishersOf(on, rows);
  const data = rows.slice(0, limit).flatMap((row) => {
    const release = releases.get(row.digest);
    if (release === undefined) return [];
    const { state: _, ...printed } = printRelease(release, "live");
    return [
      {
        ...printed,
        published_at: printTime(row.published_at),
        published_by: publisher(row),
      },
    ];
  });
  const last = rows[limit - 1];
  return { data, next_cursor: rows.length > limit && last ? last.digest : null };
}

async function isReleased(sql: Sql, column: "route" | "digest", value: string): Promise<boolean> {
  const query = from.selectFrom("route_release").select("digest").where(column, "=", value).limit(1);
  return (await rowsOf(sql, query)).length > 0;
}

type PublishedBy = z.output<typeof releasesShapes.releaseHistory>["data"][number]["published_by"];

type Published = Pick<Tables["route_release"], "route" | "published_at">;

/** Who published each, from the audit line of the same instant. */
async function publishersOf(
  { sql, people }: RoutesPorts,
  rows: readonly Published[],
): Promise<(row: Published) => PublishedBy> {
  if (rows.length === 0) return () => null;
  const query = from
    .selectFrom("audit_log")
    .select(["target as route", "at as published_at", "actor"])
    .where("at", "in", [...new Set(rows.map((row) => row.published_at))])
    .where("action", "=", "release.publish");
  const placeOf = ({ route, published_at }: Published): string => `${route} ${published_at}`;
  const actors = new Map((await rowsOf(sql, query)).map((line) => [placeOf(line), line.actor]));
  const names = new Map(
    (await people.persons([...new Set(actors.values())])).map(({ id, name }) => [id, name]),
  );
  return (row) => {
    const actor = actors.get(placeOf(row));
    return actor === undefined ? null : { id: actor, name: names.get(actor) ?? null };
  };
}

/** The state of each route, or only of the named one. */
export async function routeRows(on: RoutesPorts, only?: string): Promise<RouteRow[]> {
  const stored = new Map((await allRoutes(on.ledger)).map((row) => [row.route, row]));
  const recent = await recentOf(on);
  const standing = on.publisher.standings().map((known): RouteRow => {
    const { release } = known;
    return {
      ...printRoute(listedStanding(known)),
      highest_version: stored.get(release.route)?.highestVersion ?? release.version,
      signed_by: release.signedBy,
      issued_at: printTime(release.issuedAtMs),
      tier: release.tier,
      price: priceOf(release),
      recent: recent.get(release.digest) ?? UNASKED,
    };
  });
  return [...standing, ...on.publisher.lost().map(lostRow)]
    .filter(({ route }) => only === undefined || route === only)
    .toSorted((a, b) => (a.route < b.route ? -1 : 1));
}

const UNASKED: RouteRow["recent"] = { requests: 0, error_rate: 0, first_part_ms_p50: null };
const UNTOLD = { signed_by: null, issued_at: null, tier: null, price: null } as const;

const lostRow = (lost: LostRoute): RouteRow => ({
  ...printRoute(listedLost(lost)),
  ...UNTOLD,
  highest_version: lost.version,
  recent: UNASKED,
});

/** The requests of the last five minutes, by release. */
async function recentOf({ sql, clock }: RoutesPorts): Promise<Map<string, RouteRow["recent"]>> {
  const query = from
    .selectFrom("request")
    .select(["release_digest", "status", "first_part_ms"])
    .where("org_id", "in", from.selectFrom("organization").select("org_id"))
    .where("request_id", ">=", sinceRequest(clock.nowMs() - RECENT_MS))
    .where("request_id", "<", sinceRequest(clock.nowMs() + LIVE_MS));
  const byRelease = Map.groupBy(await rowsOf(sql, query), (row) => row.release_digest);
  return new Map(
    [...byRelease].map(([digest, requests]) => {
      const failed = requests.filter(({ status }) => status !== null && status >= 500n).length;
      const times = requests
        .flatMap(({ first_part_ms }) => (first_part_ms === null ? [] : Number(first_part_ms)))
        .toSorted((a, b) => a - b);
      return [
        digest,
        {
          requests: requests.length,
          error_rate: failed / requests.length,
          first_part_ms_p50: times[Math.floor(times.length / 2)] ?? null,
        },
      ];
    }),
  );
}

type Field = [string, (release: Release) => string | null];
/** What a caller would notice besides the prices. */
const FIELDS: Field[] = [
  ["model", ({ model }) => model],
  ["provider", ({ provider }) => provider],
  ["upstream_model", ({ upstreamModel }) => upstreamModel],
  ["region", ({ region }) => region],
  ["tier", ({ tier }) => tier],
  ["requires_paid", ({ requiresPaid }) => String(requiresPaid)],
  ["context_window", ({ contextWindow }) => String(contextWindow)],
  ["max_output_tokens", ({ maxOutputTokens }) => String(maxOutputTokens)],
  ["default_output_tokens", ({ defaultOutputTokens }) => String(defaultOutputTokens)],
  ["reasoning.modes", ({ reasoning }) => reasoning?.modes.join(", ") ?? null],
  ["reasoning.default", ({ reasoning }) => reasoning?.default ?? null],
  ...PUBLISHED_CAPABILITIES.map(
    ([name]): Field => [`capabilities.${name}`, ({ capabilities }) => String(capabilities[name])],
  ),
  ["image_tokens_max", ({ imageTokensMax }) => imageTokensMax?.toString() ?? null],
  ["file_tokens_max", ({ fileTokensMax }) => fileTokensMax?.toString() ?? null],
  ["file_pages_max", ({ filePagesMax }) => filePagesMax?.toString() ?? null],
  ["remote_images", ({ remoteImages }) => String(remoteImages)],
  ["defaults.temperature", ({ defaults }) => defaults.temperature?.toString() ?? null],
  ["tokenizer", ({ tokenizer }) => tokenizer],
  ["priority", ({ priority }) => String(priority)],
  ["weight", ({ weight }) => String(weight)],
  ["expires_at", ({ expiresAtMs }) => printTime(expiresAtMs)],
  ["signed_by", ({ signedBy }) => signedBy],
  ["version", ({ version }) => String(version)],
];

function changesOf(live: Release | null, next: Release): Verified["changes"] {
  return FIELDS.flatMap(([field, read]) => {
    const [before, after] = [live === null ? null : read(live), read(next)];
    return before === after ? [] : [{ field, before, after }];
  });
}
