// Signed releases and the state of their routes on SQLite. A release is an immutable row named by its digest, which is
// what requests are priced by; the highest version of a route never sinks (hardening.md S33).
import type { Actor } from "../contract/actor.ts";
import type { Database } from "bun:sqlite";
import { nanoUsd } from "../contract/money.ts";
import type { Release } from "../contract/release.ts";
import type { Ledger, RouteRecord } from "./ledger.ts";
import { appendAuditLine, printedValue } from "./sqlite-audit-log.ts";
import { type Cell, flag, int, text, textOrNull } from "./sqlite-cell.ts";

type Published = Awaited<ReturnType<Ledger["publishRelease"]>>;
type OnShelf = Awaited<ReturnType<Ledger["releases"]>>[number];

export class SqliteReleases {
  constructor(private readonly database: Database) {}

  publish({ release, jws }: { release: Release; jws: string }, actor: Actor, nowMs: number): Published {
    const { route, version, digest } = release;
    const highest = this.route(route)?.highestVersion ?? 0;
    if (version === highest && this.find(digest) !== null) return { kind: "repeated" };
    if (version <= highest) return { kind: "rolled_back", highest };
    this.database
      .query(
        `INSERT INTO route_release (route, version, digest, jws, manifest, signed_by, expires_at, published_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)`,
      )
      .run(route, version, digest, jws, printRelease(release), release.signedBy, release.expiresAtMs, nowMs);
    this.database
      .query(
        `INSERT INTO route_state (route, highest_version, disabled, since) VALUES (?1, ?2, 0, ?3)
         ON CONFLICT (route) DO UPDATE SET highest_version = excluded.highest_version`,
      )
      .run(route, version, nowMs);
    const before = highest === 0 ? null : printedValue({ version: highest });
    const after = printedValue({ version, digest, signed_by: release.signedBy });
    this.log(route, { actor, action: "release.publish", before, after }, nowMs);
    return { kind: "published" };
  }

  /** Newest release of each route. */
  newest(): OnShelf[] {
    const rows = this.database
      .query(
        `SELECT r.manifest, r.jws, r.published_at FROM route_state s
         JOIN route_release r ON r.route = s.route AND r.version = s.highest_version ORDER BY s.route`,
      )
      .values() as Cell[][];
    return rows.map(([manifest, jws, publishedAt]) => ({
      release: parseRelease(text(manifest)),
      jws: text(jws),
      publishedAtMs: int(publishedAt),
    }));
  }

  find(digest: string): Release | null {
    const row = this.database.query("SELECT manifest FROM route_release WHERE digest = ?1").values(digest)[0];
    return row === undefined ? null : parseRelease(row[0] as string);
  }

  routes(): RouteRecord[] {
    const rows = this.database
      .query("SELECT route, highest_version, disabled, reason, since FROM route_state ORDER BY route")
      .values();
    return (rows as Cell[][]).map(routeOf);
  }

  /** Null when no release was ever published for the route. */
  setDisabled(
    route: string,
    change: { disabled: boolean; reason: string | null; actor: Actor },
    nowMs: number,
  ): RouteRecord | null {
    const found = this.route(route);
    const { disabled, actor } = change;
    const reason = disabled ? change.reason : null;
    if (found === null || (found.disabled === disabled && found.reason === reason)) return found;
    const sinceMs = found.disabled === disabled ? found.sinceMs : nowMs;
    this.database
      .query("UPDATE route_state SET disabled = ?2, reason = ?3, since = ?4 WHERE route = ?1")
      .run(route, disabled ? 1 : 0, reason, sinceMs);
    const before = printedValue({ disabled: found.disabled, reason: found.reason });
    const after = printedValue({ disabled, reason });
    const action = disabled ? "route.disable" : "route.enable";
    this.log(route, { actor, action, before, after }, nowMs);
    return { ...found, disabled, reason, sinceMs };
  }

  private route(route: string): RouteRecord | null {
    const row = this.database
      .query("SELECT route, highest_version, disabled, reason, since FROM route_state WHERE route = ?1")
      .values(route)[0];
    return row === undefined ? null : routeOf(row as Cell[]);
  }

  private log(
    route: string,
    line: { actor: Actor; action: string; before: string | null; after: string },
    nowMs: number,
  ): void {
    appendAuditLine(this.database, { ...line, atMs: nowMs, organizationId: null, target: route });
  }
}

const routeOf = ([route, highestVersion, disabled, reason, since]: Cell[]): RouteRecord => ({
  route: text(route),
  highestVersion: int(highestVersion),
  disabled: flag(disabled),
  reason: textOrNull(reason),
  sinceMs: int(since),
});

const RATES = ["input", "cachedInput", "output", "requestMinimum"] as const;

/** JSON with the rates as decimal text of whole nano-USD: a JSON number would round them. */
export function printRelease(release: Release): string {
  const price = Object.fromEntries(RATES.map((rate) => [rate, release.price[rate].toString()]));
  return JSON.stringify({ ...release, price });
}

export function parseRelease(manifest: string): Release {
  const stored = JSON.parse(manifest) as Omit<Release, "price"> & {
    price: Record<(typeof RATES)[number], string>;
  };
  const { input, cachedInput, output, requestMinimum } = stored.price;
  return {
    ...stored,
    price: {
      input: nanoUsd(BigInt(input)),
      cachedInput: nanoUsd(BigInt(cachedInput)),
      output: nanoUsd(BigInt(output)),
      requestMinimum: nanoUsd(BigInt(requestMinimum)),
    },
  };
}
