// Tracks which releases are open right now: the newest release of every route, in memory, with the operator's
// switch, its expiry and its health. States, worst first: disabled > stale > unhealthy > live (interfaces.md
// §4). No approval overrides a closed state (specification 1). COMMIT 1 checks switch, version and expiry
// again in the store.
import type { Tier } from "../domain/gateway-object.ts";
import type { Refusal } from "../domain/refusals.ts";
import type { Release } from "../domain/release.ts";
import { namesOfRoute, type RouteNames } from "../domain/route-names.ts";
import type { Clock } from "../lib/clock.ts";
import { closedRouteRefusal, modelNotFound } from "./closed-refusal.ts";
import type { Health } from "./health.ts";
import { type LostRoute, type ModelStanding, nearestToLive, type RouteStanding } from "./standing.ts";
import { inTrialOrder } from "./trial-order.ts";

/** What the store keeps about a route besides its releases. */
export interface RouteSwitch {
  route: string;
  highestVersion: number;
  disabled: boolean;
  reason: string | null;
  /** When it was last switched off or on; if never, when its first release was published. */
  sinceMs: number;
}

/** A release in the route table. */
export interface RouteTableEntry {
  release: Release;
  /**
   * Why it serves nobody, regardless of time: its signature is not valid under the keys trusted today, its
   * terms come from a newer version of this program, or it only stands in for a damaged release to identify
   * the route. Null means none.
   */
  fault: "untrusted_key" | "unknown_terms" | "unreadable" | null;
  /** Since when the route has always had a valid release, in milliseconds since the epoch. */
  coveredSinceMs: number;
}

/** A route that no release identifies. */
interface Lost extends RouteSwitch {
  names: RouteNames | null;
}

interface Slot extends RouteTableEntry {
  highestVersion: number;
  disabled: boolean;
  reason: string | null;
  switchedAtMs: number;
  /** `[release]`, allocated once: the result for a model with one open route. */
  alone: readonly Release[];
}

/** For whom routes are looked up. */
export interface RouteSeeker {
  organizationId: string;
  /** The key's scope. */
  scope: Tier;
}

/** The slots of one model by priority, and the ones that serve a key of each scope. */
interface ModelSlots extends Record<Tier, readonly Slot[]> {
  all: Slot[];
}

export interface RouteTablePorts {
  clock: Clock;
  health: Pick<Health, "permits" | "begin" | "of">;
  /** 0 ≤ random() < 1; used for routes of equal priority. */
  random?: () => number;
}

const NONE: readonly Release[] = Object.freeze([]);

/** One per process; `candidates` runs for every request and does not read the store. */
export class RouteTable {
  private readonly slots = new Map<string, Slot>();
  private readonly lostRoutes = new Map<string, Lost>();
  /** Rebuilt on every change, never on a request. */
  private readonly byModel = new Map<string, ModelSlots>();

  constructor(private readonly ports: RouteTablePorts) {}

  /**
   * Open releases of a model in trial order, fixed for one request of this caller; empty if there are none.
   */
  candidates(model: string, seeker: RouteSeeker): readonly Release[] {
    const releases = this.open(model, seeker);
    for (const release of releases) this.ports.health.begin(release, seeker.organizationId);
    return releases;
  }

  /** The same set for a quote: does not take a circuit's trial. */
  open(model: string, { organizationId, scope }: RouteSeeker): readonly Release[] {
    const slots = this.byModel.get(model)?.[scope];
    if (slots === undefined) return NONE;
    const [first] = slots;
    if (slots.length === 1 && first !== undefined)
      return this.isOpen(first, organizationId) ? first.alone : NONE;
    return this.amongOpen(slots, organizationId);
  }

  private amongOpen(slots: readonly Slot[], organizationId: string): readonly Release[] {
    const live = slots.filter((slot) => this.isOpen(slot, organizationId)).map(({ release }) => release);
    return live.length > 1 ? inTrialOrder(live, this.ports.random ?? Math.random) : live;
  }

  /** Why `candidates` was empty: 404, or 503 with the state nearest to live. */
  closedReason(model: string, { scope }: Pick<RouteSeeker, "scope">): Refusal {
    const slots = this.byModel.get(model)?.[scope];
    const nowMs = this.ports.clock.nowMs();
    if (slots === undefined) {
      const lost = this.lost().find(({ names }) => names?.model === model);
      if (lost === undefined) return modelNotFound(model);
      return closedRouteRefusal(model, { ...lost, nextProbeAtMs: null }, nowMs);
    }
    const nearest = nearestToLive(slots.map((slot) => this.standingOf(slot)));
    return closedRouteRefusal(model, { ...nearest, version: nearest.release.version }, nowMs);
  }

  models(): ModelStanding[] {
    return [...this.byModel.keys()].flatMap((id) => this.model(id) ?? []);
  }

  model(id: string): ModelStanding | null {
    const slots = this.byModel.get(id)?.all;
    if (slots === undefined) return null;
    const routes = slots.map((slot) => this.standingOf(slot));
    const createdAtMs = Math.min(...slots.map(({ release }) => release.issuedAtMs));
    return { model: id, createdAtMs, state: nearestToLive(routes).state, routes };
  }

  standings(): RouteStanding[] {
    return [...this.slots.values()].map((slot) => this.standingOf(slot));
  }

  /** Routes without a standing: closed, and identified by no release. */
  lost(): LostRoute[] {
    return [...this.lostRoutes.values()].map(({ route, highestVersion: version, names, ...known }) => ({
      route,
      version,
      names,
      ...(known.disabled
        ? { state: "disabled", reason: known.reason ?? "unreadable", sinceMs: known.sinceMs }
        : { state: "stale", reason: "unreadable", sinceMs: null }),
    }));
  }

  route(id: string): RouteStanding | null {
    const slot = this.slots.get(id);
    return slot === undefined ? null : this.standingOf(slot);
  }

  /** The highest version ever seen of a route, 0 for an unknown one. */
  highestVersion(route: string): number {
    return (this.slots.get(route) ?? this.lostRoutes.get(route))?.highestVersion ?? 0;
  }

  /**
   * Replaces everything with what the store holds. `names`: of routes without a release, if their rows
   * contain them.
   */
  load(stored: {
    releases: readonly RouteTableEntry[];
    switches: readonly RouteSwitch[];
    names?: ReadonlyMap<string, RouteNames>;
  }): void {
    const switchOf = new Map(stored.switches.map((known) => [known.route, known]));
    this.slots.clear();
    for (const entry of stored.releases) {
      const { route } = entry.release;
      this.slots.set(route, slotOf(entry, switchOf.get(route)));
    }
    this.lostRoutes.clear();
    for (const known of stored.switches) {
      const { route } = known;
      if (this.slots.has(route)) continue;
      this.lostRoutes.set(route, { ...known, names: stored.names?.get(route) ?? namesOfRoute(route) });
    }
    this.index();
  }

  /** Adds a newly published release; ignored if the table has a newer one. */
  put(release: Release): void {
    const before = this.slots.get(release.route);
    if (before !== undefined && before.release.version > release.version) return;
    const nowMs = this.ports.clock.nowMs();
    const covered = before !== undefined && staleness(before, nowMs) === null;
    const coveredSinceMs = covered ? before.coveredSinceMs : nowMs;
    const known = before ? { ...before, sinceMs: before.switchedAtMs } : this.lostRoutes.get(release.route);
    this.lostRoutes.delete(release.route);
    this.slots.set(release.route, slotOf({ release, fault: null, coveredSinceMs }, known));
    this.index();
  }

  /** False if there is no such route. */
  setDisabled({ route, disabled, reason, sinceMs }: Omit<RouteSwitch, "highestVersion">): boolean {
    const [slot, lost] = [this.slots.get(route), this.lostRoutes.get(route)];
    const found = slot ?? lost;
    if (found === undefined) return false;
    found.disabled = disabled;
    found.reason = disabled ? reason : null;
    if (slot !== undefined) slot.switchedAtMs = sinceMs;
    if (lost !== undefined) lost.sinceMs = sinceMs;
    return true;
  }

  private isOpen(slot: Slot, organizationId: string): boolean {
    const { clock, health } = this.ports;
    return (
      !slot.disabled &&
      staleness(slot, clock.nowMs()) === null &&
      health.permits(slot.release, organizationId)
    );
  }

  private standingOf(slot: Slot): RouteStanding {
    const { release } = slot;
    const { reason: ailment, sinceMs: healthSinceMs, ...health } = this.ports.health.of(release);
    const { switchedAtMs } = slot;
    if (slot.disabled)
      return { release, state: "disabled", reason: slot.reason, sinceMs: switchedAtMs, ...health };
    const stale = staleness(slot, this.ports.clock.nowMs());
    if (stale !== null) {
      const sinceMs = stale === "expired" ? Math.max(release.expiresAtMs, switchedAtMs) : null;
      return { release, state: "stale", reason: stale, sinceMs, ...health };
    }
    if (ailment === null)
      return {
        release,
        state: "live",
        reason: null,
        sinceMs: Math.max(switchedAtMs, slot.coveredSinceMs, healthSinceMs ?? 0),
        ...health,
      };
    const sinceMs = healthSinceMs === null ? null : Math.max(healthSinceMs, switchedAtMs);
    return { release, state: "unhealthy", reason: ailment, sinceMs, ...health };
  }

  private index(): void {
    this.byModel.clear();
    for (const [model, all] of Map.groupBy(this.slots.values(), ({ release }) => release.model)) {
      all.sort((a, b) => a.release.priority - b.release.priority);
      this.byModel.set(model, {
        all,
        standard: servedTo("standard", all),
        research: servedTo("research", all),
      });
    }
  }
}

/**
 * Routes of a key's own scope, whatever their state: failover never reaches a route that the key may not use.
 * If the model has none, its other routes are returned, so that the refusal says what the key lacks.
 */
function servedTo(scope: Tier, all: readonly Slot[]): readonly Slot[] {
  const own = all.filter(({ release }) => release.tier === scope);
  return own.length === 0 ? all : own;
}

function slotOf(
  { release, fault, coveredSinceMs }: RouteTableEntry,
  known: Omit<RouteSwitch, "route"> | undefined,
): Slot {
  return {
    release,
    fault,
    coveredSinceMs,
    highestVersion: Math.max(known?.highestVersion ?? 0, release.version),
    disabled: known?.disabled ?? false,
    reason: known?.reason ?? null,
    switchedAtMs: known?.sinceMs ?? coveredSinceMs,
    alone: Object.freeze([release]),
  };
}

/**
 * Why a release may no longer serve; checked on every request, so an expiry closes the route to the
 * millisecond.
 */
function staleness(slot: Slot, nowMs: number): "expired" | "superseded" | RouteTableEntry["fault"] {
  if (slot.fault !== null) return slot.fault;
  if (slot.release.version < slot.highestVersion) return "superseded";
  return slot.release.expiresAtMs <= nowMs ? "expired" : null;
}
