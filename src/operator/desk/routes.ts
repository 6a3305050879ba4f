// Routes and releases for operators: how each route stands, what a signed file would change, what was published.
import { OperatorRefusal } from "../../contract/admin-refusals.ts";
import type { AppAnswer } from "../../contract/app.ts";
import type { Desk } from "../../contract/desk.ts";
import type { People } from "../../contract/people.ts";
import type { Release } from "../../contract/release.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Publisher } from "../../releases/publish.ts";
import { numberOf, orNull, type Sql, type SqlRow, textOf } from "../../store/sql.ts";
import { printRelease, printRoute } from "../releases.ts";
import { unknownRecord } from "../unknown-record.ts";
import { priceOf } from "./catalogue.ts";
import { Conditions } from "./conditions.ts";
import { readCursor } from "./cursors.ts";
import type { LabelBook } from "./labels.ts";
import { sinceRequest } from "./request-time.ts";

type RouteRow = AppAnswer<"GET /operator/routes">["data"][number];
type Verified = AppAnswer<"POST /operator/releases/verify">;

export interface RoutesPorts {
  sql: Sql;
  clock: Clock;
  ledger: Pick<Ledger, "routes">;
  labels: LabelBook;
  people: Pick<People, "persons">;
  publisher: Pick<Publisher, "standings" | "trustedKeys" | "verify">;
}

const RECENT_MS = 5 * 60_000;
const PAGE = 50;
const DIGEST = /^[0-9a-f]{64}$/;
const LIVE_MS = 60_000;

type Mine = Pick<Desk, "allRoutes" | "routeRow" | "verifyRelease" | "releaseHistory" | "trustedKeys">;

export const routesDesk = (on: RoutesPorts): Mine => ({
  allRoutes: () => routeRows(on),
  async routeRow(route) {
    const row = (await routeRows(on)).find((found) => found.route === route);
    if (row === undefined) throw unknownRecord("route", route, "route");
    return row;
  },
  async verifyRelease(jws) {
    const outcome = await on.publisher.verify(jws.trim());
    if (outcome.kind === "refused")
      throw new OperatorRefusal("release_refused", outcome.reason, outcome.param, outcome.step);
    const live =
      on.publisher.standings().find(({ release }) => release.route === outcome.release.route) ?? null;
    return {
      release: printRelease(outcome.release, live?.state ?? "live"),
      live: live === null ? null : printRelease(live.release, live.state),
      changes: changesOf(live?.release ?? null, outcome.release),
    };
  },
  async releaseHistory({ route, cursor, limit = PAGE }) {
    const conditions = new Conditions().and("route = ?", route);
    if (cursor !== undefined) conditions.also(olderThan(conditions, cursor));
    const end = `ORDER BY published_at DESC, version DESC, digest DESC LIMIT ${conditions.bind(limit + 1)}`;
    const rows = await on.sql.rows(
      `SELECT digest, route, published_at FROM route_release ${conditions.where} ${end}`,
      ...conditions.values,
    );
    const releases = await on.labels.releasesOf(rows.map((row) => textOf(row["digest"])));
    const publisher = await publishersOf(on, rows);
    const data = rows.slice(0, limit).flatMap((row) => {
      const release = releases.get(textOf(row["digest"]));
      if (release === undefined) return [];
      const { state: _, ...printed } = printRelease(release, "live");
      return [
        {
          ...printed,
          published_at: new Date(numberOf(row["published_at"])).toISOString(),
          published_by: publisher(row),
        },
      ];
    });
    const last = rows[limit - 1];
    return { data, next_cursor: rows.length > limit && last ? textOf(last["digest"]) : null };
  },
  trustedKeys: () => on.publisher.trustedKeys().map((id) => ({ id })),
});

type PublishedBy = AppAnswer<"GET /operator/releases">["data"][number]["published_by"];

/** Who published it, by the line it left in the audit log at the same instant. */
async function publishersOf(
  { sql, people }: RoutesPorts,
  rows: readonly SqlRow[],
): Promise<(row: SqlRow) => PublishedBy> {
  if (rows.length === 0) return () => null;
  const lines = await sql.rows(
    "SELECT target, at, actor FROM audit_log WHERE at >= ?1 AND action = 'release.publish'",
    Math.min(...rows.map((row) => numberOf(row["published_at"]))),
  );
  const placeOf = (route: unknown, at: unknown): string => `${textOf(route)} ${numberOf(at)}`;
  const actors = new Map(lines.map((line) => [placeOf(line["target"], line["at"]), textOf(line["actor"])]));
  const names = new Map(
    (await people.persons([...new Set(actors.values())])).map(({ id, name }) => [id, name]),
  );
  return (row) => {
    const actor = actors.get(placeOf(row["route"], row["published_at"]));
    return actor === undefined ? null : { id: actor, name: names.get(actor) ?? null };
  };
}

/** Of the releases of one instant the higher version is the newer one; the digest tells the rest apart. */
function olderThan(conditions: Conditions, cursor: string): string {
  const digest = conditions.bind(readCursor(cursor, DIGEST)[0]);
  const of = (column: string): string => `(SELECT ${column} FROM route_release WHERE digest = ${digest})`;
  return `(published_at, version, digest) < (${of("published_at")}, ${of("version")}, ${digest})`;
}

async function routeRows(on: RoutesPorts): Promise<RouteRow[]> {
  const stored = new Map((await on.ledger.routes()).map((row) => [row.route, row]));
  const recent = await recentOf(on);
  return on.publisher
    .standings()
    .toSorted((a, b) => (a.release.route < b.release.route ? -1 : 1))
    .map((standing) => {
      const { release } = standing;
      const row = stored.get(release.route);
      return {
        ...printRoute(standing),
        highest_version: row?.highestVersion ?? release.version,
        since: row === undefined ? null : new Date(row.sinceMs).toISOString(),
        signed_by: release.signedBy,
        issued_at: new Date(release.issuedAtMs).toISOString(),
        tier: release.tier,
        price: priceOf(release),
        recent: recent.get(release.digest) ?? { requests: 0, error_rate: 0, first_part_ms_p50: null },
      };
    });
}

/** What requests of the last five minutes saw of each release. */
async function recentOf({ sql, clock }: RoutesPorts): Promise<Map<string, RouteRow["recent"]>> {
  const rows = await sql.rows(
    `SELECT release_digest, status, first_part_ms FROM request
     WHERE org_id IN (SELECT org_id FROM organization) AND request_id >= ?1 AND request_id < ?2`,
    sinceRequest(clock.nowMs() - RECENT_MS),
    sinceRequest(clock.nowMs() + LIVE_MS),
  );
  const byRelease = Map.groupBy(rows, (row) => textOf(row["release_digest"]));
  return new Map(
    [...byRelease].map(([digest, requests]) => {
      const failed = requests.filter((row) => (orNull(row["status"], numberOf) ?? 0) >= 500).length;
      const times = requests
        .flatMap((row) => orNull(row["first_part_ms"], numberOf) ?? [])
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

/** Fields that a caller or a bill would notice. */
const FIELDS: [string, (release: Release) => string | null][] = [
  ["model", ({ model }) => model],
  ["provider", ({ provider }) => provider],
  ["upstream_model", ({ upstreamModel }) => upstreamModel],
  ["region", ({ region }) => region],
  ["tier", ({ tier }) => tier],
  ["requires_paid", ({ requiresPaid }) => String(requiresPaid)],
  ["context_window", ({ contextWindow }) => String(contextWindow)],
  ["max_output_tokens", ({ maxOutputTokens }) => String(maxOutputTokens)],
  ["default_output_tokens", ({ defaultOutputTokens }) => String(defaultOutputTokens)],
  ["price.input_per_million", (release) => priceOf(release).input_per_million],
  ["price.cached_input_per_million", (release) => priceOf(release).cached_input_per_million],
  ["price.output_per_million", (release) => priceOf(release).output_per_million],
  ["price.request_minimum", (release) => priceOf(release).request_minimum],
  ["reasoning.modes", ({ reasoning }) => reasoning?.modes.join(", ") ?? null],
  ["reasoning.default", ({ reasoning }) => reasoning?.default ?? null],
  ["capabilities", ({ capabilities }) => JSON.stringify(capabilities)],
  ["tokenizer", ({ tokenizer }) => tokenizer],
  ["priority", ({ priority }) => String(priority)],
  ["weight", ({ weight }) => String(weight)],
  ["expires_at", ({ expiresAtMs }) => new Date(expiresAtMs).toISOString()],
  ["signed_by", ({ signedBy }) => signedBy],
  ["version", ({ version }) => String(version)],
];

function changesOf(live: Release | null, next: Release): Verified["changes"] {
  return FIELDS.flatMap(([field, read]) => {
    const [before, after] = [live === null ? null : read(live), read(next)];
    return before === after ? [] : [{ field, before, after }];
  });
}
