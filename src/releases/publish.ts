// Publishes and switches routes: verify, then store, then serve. Only the store decides about versions, in
// the transaction that writes; nothing changes before all checks have passed (hardening S33).
import type { Actor } from "../domain/actor.ts";
import type { Tier } from "../domain/gateway-object.ts";
import type { ReleaseStep } from "../domain/operator-refusals.ts";
import type { Release } from "../domain/release.ts";
import type { RouteNames } from "../domain/route-names.ts";
import type { Clock } from "../lib/clock.ts";
import { freezeRelease } from "../domain/freeze-release.ts";
import { ReleaseError } from "./release-error.ts";
import { type PublicReleaseKey, publicReleaseKey, type TrustedKeys } from "./release-key.ts";
import type { RouteSwitch, RouteTable, RouteTableEntry } from "./route-table.ts";
import { type ReleaseClaims, unverifiedRelease, verifyRelease } from "./signature.ts";
import {
  type ListedRoute,
  listedLost,
  listedStanding,
  type LostRoute,
  type RouteStanding,
} from "./standing.ts";

/** The newest release of a route; `coveredSinceMs`: since when the route has always had a valid one. */
interface StoredRelease {
  release: Release;
  jws: string;
  publishedAtMs: number;
  coveredSinceMs: number;
}

/** What is left of a route's damaged newest release, which serves nobody. */
interface DamagedRelease {
  route: string;
  jws: string | null;
  /** The newest readable release before it. */
  older: Release | null;
  named: RouteNames | null;
}

/** What publication needs from the store; the registry implements it. */
export interface ReleaseStore {
  publishRelease(
    published: { release: Release; jws: string },
    actor: Actor,
  ): Promise<{ kind: "published" } | { kind: "rolled_back"; highest: number } | { kind: "repeated" }>;
  /**
   * The newest release of each route, or only of these routes; the reader of the store is told why one is
   * damaged.
   */
  releases(
    routes?: readonly string[],
  ): Promise<{ releases: readonly StoredRelease[]; damaged: readonly DamagedRelease[] }>;
  /** `digest` is that of its newest release. */
  routes(): Promise<readonly (RouteSwitch & { digest: string | null })[]>;
  /** Null if there is no such route. */
  setRouteDisabled(
    route: string,
    disabled: boolean,
    reason: string | null,
    actor: Actor,
  ): Promise<RouteSwitch | null>;
}

export interface PublisherPorts {
  store: ReleaseStore;
  routeTable: RouteTable;
  trusted: TrustedKeys;
  clock: Clock;
  /** Reports a published release with terms that this version does not know, naming the first. */
  unknownTerms(error: ReleaseError): void;
}

export type PublishOutcome =
  | { kind: "published" | "repeated"; release: Release }
  | { kind: "refused"; reason: string; param: string | null; step: ReleaseStep };

/** One per process. A refused release is an outcome; an unreachable store throws. */
export class Publisher {
  /** Verified releases by route: neither a release nor the trusted keys of a process ever change. */
  private readonly known = new Map<string, RouteTableEntry>();
  /** How many changes this process has made to the route table. */
  private changes = 0;

  constructor(private readonly ports: PublisherPorts) {}

  /** The newest stored release of each route, or only of these routes, without damaged ones. */
  async published(routes?: readonly string[]): Promise<readonly StoredRelease[]> {
    return (await this.ports.store.releases(routes)).releases;
  }

  /** The names of all stored routes. */
  async routes(): Promise<string[]> {
    return (await this.ports.store.routes()).map(({ route }) => route);
  }

  /**
   * Fills the route table from the store. The first load verifies every signature again: a key that is no
   * longer trusted closes its routes. Later loads read and verify only what is new; otherwise each
   * publication would stop all gateways for as long as a start takes.
   */
  async load(): Promise<void> {
    let stored: Parameters<RouteTable["load"]>[0];
    let changes: number;
    do {
      changes = this.changes;
      stored = await this.read();
    } while (changes !== this.changes); // anything published or switched in between is newer than what was read
    this.ports.routeTable.load(stored);
  }

  private async read(): Promise<Parameters<RouteTable["load"]>[0]> {
    const { store } = this.ports;
    const switches = await store.routes();
    const fresh = switches.filter((known) => !this.isKnown(known)).map(({ route }) => route);
    const names = new Map<string, RouteNames>();
    if (fresh.length > 0) {
      const { releases, damaged } = await store.releases(
        fresh.length === switches.length ? undefined : fresh,
      );
      const entries = await Promise.all(releases.map((stored) => this.reverify(stored)));
      for (const one of damaged) {
        const standIn = this.standInFor(one);
        if (standIn !== null) entries.push({ release: standIn, fault: "unreadable", coveredSinceMs: 0 });
        else if (one.named !== null) names.set(one.route, one.named);
      }
      for (const route of fresh) this.known.delete(route);
      for (const one of entries) this.known.set(one.release.route, one);
    }
    return { releases: switches.flatMap(({ route }) => this.known.get(route) ?? []), switches, names };
  }

  /** True if exactly this release was verified; a damaged one may have been repaired. */
  private isKnown({ route, digest }: { route: string; digest: string | null }): boolean {
    const known = this.known.get(route);
    return known !== undefined && known.fault !== "unreadable" && known.release.digest === digest;
  }

  /**
   * A release to identify a route whose newest release is damaged: what can still be read of it, what was
   * served before, or the release before it. It is shown, never served. Null if none is left.
   */
  private standInFor({ route, jws, older }: DamagedRelease): Release | null {
    const said = jws === null ? null : releaseIn(jws);
    return said?.route === route ? said : (this.known.get(route)?.release ?? older);
  }

  /**
   * Publishes a signed release. Refuses with a reason that an operator can act on; publishing the same JWS
   * again changes nothing.
   */
  async publish(jws: string, actor: Actor): Promise<PublishOutcome> {
    const { store, routeTable } = this.ports;
    try {
      const release = await this.verified(jws, { published: false });
      const outcome = await store.publishRelease({ release, jws }, actor);
      if (outcome.kind === "rolled_back") throw rollback(release, outcome.highest);
      if (outcome.kind === "published") {
        routeTable.put(release);
        this.changes += 1;
      }
      return { kind: outcome.kind, release };
    } catch (error) {
      return refusedBy(error);
    }
  }

  /**
   * What `publish` would return, without publishing: checks signature, trust and manifest, then version, then
   * expiry.
   */
  async verify(jws: string): Promise<PublishOutcome> {
    try {
      const { route, version } = await this.verified(jws, { published: true });
      const stored = (await this.ports.store.routes()).find((row) => row.route === route);
      if (stored !== undefined && version <= stored.highestVersion)
        throw rollback({ route, version }, stored.highestVersion);
      return { kind: "published", release: await this.verified(jws, { published: false }) };
    } catch (error) {
      return refusedBy(error);
    }
  }

  /** Ids of the keys whose releases are accepted. */
  trustedKeys(): string[] {
    return [...this.ports.trusted.keys()];
  }

  /** The public halves of those keys, for verifying signatures independently. */
  publicKeys(): Promise<PublicReleaseKey[]> {
    return Promise.all([...this.ports.trusted].map(([kid, key]) => publicReleaseKey(kid, key)));
  }

  /** Closes or opens a route by hand, effective with the next admission. False if there is no such route. */
  async setDisabled(
    change: { route: string; disabled: boolean; reason: string | null },
    actor: Actor,
  ): Promise<boolean> {
    const { route, disabled, reason } = change;
    const stored = await this.ports.store.setRouteDisabled(route, disabled, reason, actor);
    this.changes += 1;
    return stored !== null && this.ports.routeTable.setDisabled(stored);
  }

  standings(): RouteStanding[] {
    return this.ports.routeTable.standings();
  }

  /** Routes that are closed and identified by no release. */
  lost(): LostRoute[] {
    return this.ports.routeTable.lost();
  }

  /** All routes, whether anything is left of their releases or not. */
  listed(): ListedRoute[] {
    return [...this.standings().map(listedStanding), ...this.lost().map(listedLost)];
  }

  /** The highest version that a route ever had; 0 if there is no such route. */
  highestVersion(route: string): number {
    return this.ports.routeTable.highestVersion(route);
  }

  /**
   * True if a route of the model is known, open or not, by whatever is left of its newest release; with a
   * tier, one of that tier, or a damaged one whose tier is unknown.
   */
  async hasRoute(model: string, tier?: Tier): Promise<boolean> {
    const fits = (release: Release): boolean =>
      release.model === model && (tier === undefined || release.tier === tier);
    return (
      this.standings().some(({ release }) => fits(release)) ||
      this.lost().some(({ names }) => names?.model === model) ||
      // Another gateway may have just published it.
      (await this.published()).some(({ release }) => fits(release))
    );
  }

  /** True if any route is closed because its newest release is damaged. */
  hasDamaged(): boolean {
    return this.lost().length > 0 || [...this.known.values()].some(({ fault }) => fault === "unreadable");
  }

  private async reverify({ release, jws, coveredSinceMs }: StoredRelease): Promise<RouteTableEntry> {
    try {
      const verified = await this.verified(jws, { published: true });
      return { release: verified, fault: null, coveredSinceMs };
    } catch (error) {
      if (!(error instanceof ReleaseError)) throw error;
      if (error.reason !== "manifest") return { release, fault: "untrusted_key", coveredSinceMs };
      const { reason, message, path } = error;
      this.ports.unknownTerms(new ReleaseError(reason, `${release.route}: ${message}`, path));
      return { release, fault: "unknown_terms", coveredSinceMs };
    }
  }

  private async verified(jws: string, how: { published: boolean }): Promise<Release> {
    const { trusted, clock } = this.ports;
    return frozen(jws, await verifyRelease(jws, trusted, { ...how, nowMs: clock.nowMs() }));
  }
}

const frozen = (jws: string, { claims, kid }: { claims: ReleaseClaims; kid: string }): Release => {
  const { manifest, issuedAtMs, expiresAtMs } = claims;
  return freezeRelease(manifest, { digest: sha256(jws), signedBy: kid, issuedAtMs, expiresAtMs });
};

/** The content of a JWS whose signature is not checked; null if not even its format is intact. */
function releaseIn(jws: string): Release | null {
  try {
    return frozen(jws, unverifiedRelease(jws));
  } catch (error) {
    if (error instanceof ReleaseError) return null;
    throw error;
  }
}

const sha256 = (text: string): string => new Bun.CryptoHasher("sha256").update(text).digest("hex");

/** Rethrows errors that the release did not cause. */
function refusedBy(error: unknown): PublishOutcome {
  if (!(error instanceof ReleaseError)) throw error;
  const step =
    error.reason === "rolled_back" ? "version" : error.reason === "expired" ? "expiry" : "signature";
  return { kind: "refused", reason: error.message, param: error.path, step };
}

const rollback = ({ route, version }: Pick<Release, "route" | "version">, highest: number): ReleaseError =>
  new ReleaseError(
    "rolled_back",
    `Version ${version} of ${route} is not above ${highest}, the highest ever published. ${
      highest < Number.MAX_SAFE_INTEGER ? "Give it a higher version and sign it again." : SPENT
    }`,
    "version",
  );

/**
 * The last possible version was published with a trusted key (docs/decisions/0068-versions-are-of-routes.md).
 */
const SPENT = "There is no higher one. Publish the model under another `region`, and disable this route.";
