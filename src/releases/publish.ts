// Publishing and switching routes: verify, then store, then serve. The store alone decides about versions, in the
// transaction that writes; nothing changes before all checks passed (hardening S33).
import type { Actor } from "../domain/actor.ts";
import type { ReleaseStep } from "../domain/operator-refusals.ts";
import type { Release } from "../domain/release.ts";
import type { Clock } from "../lib/clock.ts";
import { freezeRelease } from "../domain/freeze-release.ts";
import { ReleaseError } from "./release-error.ts";
import { type PublicReleaseKey, publicReleaseKey, type TrustedKeys } from "./release-key.ts";
import type { RouteSwitch, RouteTable, Shelved } from "./route-table.ts";
import { verifyRelease } from "./signature.ts";
import type { RouteStanding } from "./standing.ts";

/** The newest one of a route; `coveredSinceMs`: since when the route was without one for no moment. */
interface StoredRelease {
  release: Release;
  jws: string;
  publishedAtMs: number;
  coveredSinceMs: number;
}

/** What publication needs of the store; the registry has it. */
export interface ReleaseStore {
  publishRelease(
    published: { release: Release; jws: string },
    actor: Actor,
  ): Promise<{ kind: "published" } | { kind: "rolled_back"; highest: number } | { kind: "repeated" }>;
  /** The newest release of each route, or of these alone. */
  releases(routes?: readonly string[]): Promise<readonly StoredRelease[]>;
  /** `digest`: of its newest release. */
  routes(): Promise<readonly (RouteSwitch & { digest: string | null })[]>;
  /** Null when there is no such route. */
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
}

export type PublishOutcome =
  | { kind: "published" | "repeated"; release: Release }
  | { kind: "refused"; reason: string; param: string | null; step: ReleaseStep };

export class Publisher {
  /** By route, as they were verified: a release never changes, nor do the trusted keys of a process. */
  private readonly known = new Map<string, Shelved>();

  constructor(private readonly ports: PublisherPorts) {}

  /** The newest release of each route, as it is stored now. */
  async published(): Promise<readonly StoredRelease[]> {
    return await this.ports.store.releases();
  }

  /**
   * Fills the route table from the store, verifying at the first time every signature again: a key that lost its trust closes its
   * routes. Later only what is new is read and verified, or each publication would stop all gateways for as long as a start takes.
   */
  async load(): Promise<void> {
    const { store, routeTable } = this.ports;
    const switches = await store.routes();
    const fresh = switches
      .filter(({ route, digest }) => this.known.get(route)?.release.digest !== digest)
      .map(({ route }) => route);
    if (fresh.length > 0) {
      const stored = await store.releases(fresh.length === switches.length ? undefined : fresh);
      const verified = await Promise.all(stored.map((entry) => this.reverify(entry)));
      for (const route of fresh) this.known.delete(route); // one that cannot be read closes its route
      for (const shelved of verified) this.known.set(shelved.release.route, shelved);
    }
    const releases = switches.flatMap(({ route }) => this.known.get(route) ?? []);
    routeTable.load({ releases, switches });
  }

  /** Publishes a signed release. Refused with a reason an operator can act on; the same JWS again changes nothing. */
  async publish(jws: string, actor: Actor): Promise<PublishOutcome> {
    const { store, routeTable } = this.ports;
    try {
      const release = await this.verified(jws, { published: false });
      const outcome = await store.publishRelease({ release, jws }, actor);
      if (outcome.kind === "rolled_back") throw rollback(release, outcome.highest);
      if (outcome.kind === "published") routeTable.put(release);
      return { kind: outcome.kind, release };
    } catch (error) {
      return refusedBy(error);
    }
  }

  /** What `publish` would say, without publishing: signature, trust and manifest, then version, then expiry. */
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

  /** The public halves of those keys, for whoever checks a signature without us. */
  publicKeys(): Promise<PublicReleaseKey[]> {
    return Promise.all([...this.ports.trusted].map(([kid, key]) => publicReleaseKey(kid, key)));
  }

  /** Closes or opens a route by hand; the very next admission sees it. False when there is no such route. */
  async setDisabled(
    change: { route: string; disabled: boolean; reason: string | null },
    actor: Actor,
  ): Promise<boolean> {
    const { route, disabled, reason } = change;
    const stored = await this.ports.store.setRouteDisabled(route, disabled, reason, actor);
    return stored !== null && this.ports.routeTable.setDisabled(stored);
  }

  standings(): RouteStanding[] {
    return this.ports.routeTable.standings();
  }

  private async reverify({ release, jws, coveredSinceMs }: StoredRelease): Promise<Shelved> {
    try {
      const verified = await this.verified(jws, { published: true });
      return { release: verified, trusted: true, coveredSinceMs };
    } catch (error) {
      if (error instanceof ReleaseError) return { release, trusted: false, coveredSinceMs };
      throw error;
    }
  }

  private async verified(jws: string, how: { published: boolean }): Promise<Release> {
    const { trusted, clock } = this.ports;
    const { claims, kid } = await verifyRelease(jws, trusted, { ...how, nowMs: clock.nowMs() });
    const { manifest, issuedAtMs, expiresAtMs } = claims;
    return freezeRelease(manifest, { digest: sha256(jws), signedBy: kid, issuedAtMs, expiresAtMs });
  }
}

const sha256 = (text: string): string => new Bun.CryptoHasher("sha256").update(text).digest("hex");

/** Rethrows what is no fault of the release. */
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

/** Whoever published the last version that there is had a trusted key (docs/decisions/0068-versions-are-of-routes.md). */
const SPENT = "There is no higher one. Publish the model under another `region`, and disable this route.";
