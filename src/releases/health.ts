// Decides whether a route may be called now: a circuit per route fed by its calls, one per provider for our
// account there, and a probe per provider. Deadlines use the monotonic clock; probes are the only job, and
// `stop` ends them.
import type { Release } from "../domain/release.ts";
import type { Clock } from "../lib/clock.ts";
import type { Jobs } from "../lib/jobs.ts";
import { messageOf } from "../domain/error-message.ts";
import { type CallFailure, healthAfter } from "./call-failure.ts";
import { afterFailure, afterStart, type Circuit, CLOSED, type CircuitLimits, permits } from "./circuit.ts";

const PROBE_TIMEOUT_MS = 5000;

export interface HealthTarget extends CircuitLimits {
  /** The provider's name in the configuration. */
  provider: string;
  intervalMs: number;
  /**
   * Makes one cheap call; throws if the provider is not well, returns false if it could not be asked. Null
   * means never probed.
   */
  probe: ((signal: AbortSignal) => Promise<boolean>) | null;
}

export interface RouteHealth {
  circuit: Circuit["phase"];
  failures: number;
  reason: "circuit_open" | "account_refused" | "probe_failing" | "opened_by_hand" | "no_provider" | null;
  /**
   * When the next call or probe may find it well again, in milliseconds since the epoch; null while it is
   * well.
   */
  nextProbeAtMs: number | null;
  /**
   * When it became unwell, or well again, in milliseconds since the epoch; null if it was never unwell. For a
   * breaker opened by hand the same at every gateway, otherwise as this gateway saw it.
   */
  sinceMs: number | null;
}

/** A provider's refusal of our account. */
export interface AccountRefusal {
  /** `quota`: no credit or quota is left; `account`: its key or its permissions are refused. */
  cause: "account" | "quota";
  /** The provider's message, redacted. */
  words: string | null;
  atMs: number;
}

interface ProviderHealth {
  target: HealthTarget;
  account: Circuit;
  /** Why the latest call was refused because of our account; null once a call was answered. */
  refusal: AccountRefusal | null;
  probeFailing: boolean;
  /** When probes began to fail, or stopped failing; monotonic milliseconds. */
  probeTurnedAtMs: number | null;
  /** When the account recovered; monotonic milliseconds. */
  accountWellAtMs: number | null;
  /** When an operator opened the breaker, in milliseconds since the epoch; only an operator closes it. */
  heldOpenAtMs: number | null;
  /** When this gateway saw that an operator closed it; monotonic milliseconds. */
  releasedAtMs: number | null;
  lastProbeAtMs: number;
  lastAnswerAtMs: number;
}

type Route = Pick<Release, "route" | "provider">;

/** The change that the end of a call caused; null for none. Repeated failed trials are not reported. */
export type HealthTurn = "closed_route" | "closed_route_for_one" | "well_again" | null;

/** Called when a provider's probe begins to fail, with the reason, or recovers (null). */
export type ProbeTold = (provider: string, why: string | null) => void;

/** Health as this process knows it; gateways of one store share only breakers opened by hand. */
export class Health {
  private readonly providers: ReadonlyMap<string, ProviderHealth>;
  /** Contains only routes with failures. */
  private readonly circuits = new Map<string, Circuit>();
  /** When an open circuit closed again; monotonic milliseconds. */
  private readonly closedAtMs = new Map<string, number>();
  private readonly stopping = new AbortController();

  constructor(
    private readonly clock: Clock,
    targets: readonly HealthTarget[],
    private readonly probeTold: ProbeTold = () => {},
  ) {
    const blank = {
      account: CLOSED,
      refusal: null,
      probeFailing: false,
      probeTurnedAtMs: null,
      accountWellAtMs: null,
      heldOpenAtMs: null,
      releasedAtMs: null,
      lastProbeAtMs: Number.NEGATIVE_INFINITY,
      lastAnswerAtMs: Number.NEGATIVE_INFINITY,
    };
    this.providers = new Map(targets.map((target) => [target.provider, { target, ...blank }]));
  }

  /**
   * True if a call of this organization may go out on this route now, possibly as the trial of an open
   * circuit.
   */
  permits(route: Route, organizationId: string): boolean {
    const provider = this.providers.get(route.provider);
    if (provider === undefined) return false;
    const circuit = this.circuits.get(route.route);
    if (provider.probeFailing || provider.heldOpenAtMs !== null) return false;
    if (circuit === undefined && provider.account === CLOSED) return true;
    const nowMs = this.clock.monotonicMs();
    return (
      permits(provider.account, organizationId, nowMs) && permits(circuit ?? CLOSED, organizationId, nowMs)
    );
  }

  /** Records that a permitted call is about to go out; it takes the trial of an open circuit. */
  begin(route: Route, organizationId: string): void {
    const provider = this.providers.get(route.provider);
    const circuit = this.circuits.get(route.route);
    if (provider === undefined || (circuit === undefined && provider.account === CLOSED)) return;
    const nowMs = this.clock.monotonicMs();
    const limits = { ...provider.target, organizationId };
    provider.account = afterStart(provider.account, nowMs, limits);
    if (circuit !== undefined) this.circuits.set(route.route, afterStart(circuit, nowMs, limits));
  }

  /**
   * Records how a call of this organization ended; null means well. `words` is the provider's message,
   * redacted. Returns the change that it caused.
   */
  report(route: Route, by: string, failure: CallFailure | null, words: string | null = null): HealthTurn {
    const provider = this.providers.get(route.provider);
    if (provider === undefined) return null;
    const meaning = healthAfter(failure);
    const nowMs = this.clock.monotonicMs();
    if (meaning === "well") {
      return this.well(route, provider, nowMs);
    } else if (meaning === "account") {
      const cause = failure === "quota" ? "quota" : "account";
      provider.refusal = { cause, words, atMs: this.clock.nowMs() };
      provider.account = afterFailure(provider.account, nowMs, {
        ...provider.target,
        by: null, // it is our account, whoever called
        fatal: true,
      });
    } else if (meaning === "unwell") {
      const before = this.circuits.get(route.route) ?? CLOSED;
      const after = afterFailure(before, nowMs, { ...provider.target, by });
      this.circuits.set(route.route, after);
      if (after.phase === "closed" || (before.phase !== "closed" && before.by === after.by)) return null;
      return after.by === null ? "closed_route" : "closed_route_for_one";
    }
    return null;
  }

  private well({ route }: Route, provider: ProviderHealth, nowMs: number): HealthTurn {
    const circuit = this.circuits.get(route);
    const accountWasUnwell = provider.account.phase !== "closed";
    const routeWasUnwell = circuit !== undefined && circuit.phase !== "closed";
    provider.lastAnswerAtMs = nowMs;
    if (accountWasUnwell) provider.accountWellAtMs = nowMs;
    provider.account = CLOSED;
    provider.refusal = null;
    if (routeWasUnwell) this.closedAtMs.set(route, nowMs);
    if (circuit !== undefined) this.circuits.delete(route);
    return accountWasUnwell || routeWasUnwell ? "well_again" : null;
  }

  /** The route's health as shown to operators and callers. */
  of(route: Route): RouteHealth {
    const provider = this.providers.get(route.provider);
    if (provider === undefined)
      return { circuit: "closed", failures: 0, reason: "no_provider", nextProbeAtMs: null, sinceMs: null };
    const own = this.circuits.get(route.route) ?? CLOSED;
    const { account, heldOpenAtMs } = provider;
    const circuit = account.phase === "closed" ? own : account;
    const { phase, failures, retryAtMs, openedAtMs } = circuit;
    if (heldOpenAtMs !== null)
      return {
        circuit: "open",
        failures,
        reason: "opened_by_hand",
        nextProbeAtMs: null,
        sinceMs: heldOpenAtMs,
      };
    if (provider.probeFailing) {
      const nextProbeAtMs = this.comingTime(provider.lastProbeAtMs + provider.target.intervalMs);
      const sinceMs = this.pastTime(provider.probeTurnedAtMs);
      return { circuit: phase, failures, reason: "probe_failing", nextProbeAtMs, sinceMs };
    }
    if (phase === "closed") {
      const sinceMs = this.pastTime(this.wellSince(route.route, provider));
      return { circuit: phase, failures, reason: null, nextProbeAtMs: null, sinceMs };
    }
    const reason = circuit === own ? "circuit_open" : "account_refused";
    const nextProbeAtMs = this.comingTime(retryAtMs);
    return { circuit: phase, failures, reason, nextProbeAtMs, sinceMs: this.pastTime(openedAtMs) };
  }

  /** Why our account at a provider is refused; null if it is not, as far as this process knows. */
  accountRefusal(name: string): AccountRefusal | null {
    return this.providers.get(name)?.refusal ?? null;
  }

  /** The latest recovery; monotonic milliseconds. */
  private wellSince(route: string, provider: ProviderHealth): number | null {
    const { probeTurnedAtMs, accountWellAtMs, releasedAtMs } = provider;
    const turns = [this.closedAtMs.get(route) ?? null, probeTurnedAtMs, accountWellAtMs, releasedAtMs];
    return turns.reduce(
      (last, turn) => (turn !== null && (last === null || turn > last) ? turn : last),
      null,
    );
  }

  /**
   * Sets the providers that get no calls until an operator closes their breaker, with the time it was opened
   * (milliseconds since the epoch).
   */
  holdOpen(opened: ReadonlyMap<string, number>): void {
    for (const [name, provider] of this.providers) {
      const openedAtMs = opened.get(name) ?? null;
      if (provider.heldOpenAtMs !== null && openedAtMs === null)
        provider.releasedAtMs = this.clock.monotonicMs();
      provider.heldOpenAtMs = openedAtMs;
    }
  }

  /** The result of a provider's latest probe; null if there was none. */
  lastProbe(name: string): { failing: boolean; atMs: number } | null {
    const provider = this.providers.get(name);
    if (provider === undefined || provider.lastProbeAtMs === Number.NEGATIVE_INFINITY) return null;
    const agoMs = this.clock.monotonicMs() - provider.lastProbeAtMs;
    return { failing: provider.probeFailing, atMs: Math.round(this.clock.nowMs() - agoMs) };
  }

  /** Probes every provider now and then at its interval, until `stop`. */
  start(jobs: Jobs): void {
    for (const { target } of this.providers.values()) {
      if (target.probe === null) continue;
      const probing = jobs.every("provider_probe", target.intervalMs, async () => {
        await this.probe(target.provider);
      });
      jobs.run("provider_probe", () => probing.now());
      this.stopping.signal.addEventListener(
        "abort",
        jobs.guarded("provider_probe", () => probing.stop()),
      );
    }
  }

  stop(): void {
    this.stopping.abort();
  }

  /**
   * Probes one provider once: true if it is well, null if it has no probe or could not be asked. A failed
   * probe counts unless a call has been answered since the previous probe.
   */
  async probe(name: string): Promise<boolean | null> {
    const provider = this.providers.get(name);
    const probe = provider?.target.probe ?? null;
    if (provider === undefined || probe === null) return null;
    const sinceMs = provider.lastProbeAtMs;
    provider.lastProbeAtMs = this.clock.monotonicMs();
    try {
      const asked = await probe(
        AbortSignal.any([this.stopping.signal, AbortSignal.timeout(PROBE_TIMEOUT_MS)]),
      );
      if (!asked) {
        provider.lastProbeAtMs = sinceMs;
        return null;
      }
      this.turnProbe(provider, null);
      return true;
    } catch (error) {
      const answered = provider.lastAnswerAtMs > sinceMs;
      if (!this.stopping.signal.aborted) this.turnProbe(provider, answered ? null : messageOf(error));
      return false;
    }
  }

  /** `why` is the reason for the failure; null if it succeeded or does not count. */
  private turnProbe(provider: ProviderHealth, why: string | null): void {
    if (provider.probeFailing === (why !== null)) return;
    provider.probeFailing = why !== null;
    provider.probeTurnedAtMs = this.clock.monotonicMs();
    this.probeTold(provider.target.provider, why);
  }

  private comingTime(monotonicMs: number): number {
    return Math.round(this.clock.nowMs() + Math.max(monotonicMs - this.clock.monotonicMs(), 0));
  }

  private pastTime(monotonicMs: number | null): number | null {
    if (monotonicMs === null) return null;
    return Math.round(this.clock.nowMs() - Math.max(this.clock.monotonicMs() - monotonicMs, 0));
  }
}
