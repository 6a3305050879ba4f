// Whether a route may be called now: a circuit per route fed by its calls, one per provider for our account there, and
// a probe per provider. Deadlines run on the monotonic clock; probes are the only timers, and `stop` ends them.
import type { Release } from "../contract/release.ts";
import type { Clock } from "../lib/clock.ts";
import { afterFailure, afterStart, type Circuit, CLOSED, type CircuitLimits, permits } from "./circuit.ts";

const PROBE_TIMEOUT_MS = 5000;

/** How a call failed; the causes of `providers/failure`, and what each says about the route's health. */
const MEANING = {
  connect: "unwell",
  connect_timeout: "unwell",
  unavailable: "unwell",
  server: "unwell",
  timeout: "unwell",
  broken: "unwell",
  account: "account",
  context_length: "well",
  content_filter: "well",
  rate_limited: "nothing",
  rejected: "nothing",
  aborted: "nothing",
  stopped: "nothing",
} as const;
export type CallFailure = keyof typeof MEANING;

export interface HealthTarget extends CircuitLimits {
  /** The provider's name in the configuration. */
  provider: string;
  intervalMs: number;
  /** One cheap call; throws when the provider is not well. Null = never probed. */
  probe: ((signal: AbortSignal) => Promise<void>) | null;
}

export interface RouteHealth {
  circuit: Circuit["phase"];
  failures: number;
  reason: "circuit_open" | "account_refused" | "probe_failing" | "opened_by_hand" | null;
  /** When the next call or probe may find it well again; null while it is well. Milliseconds since the epoch. */
  nextProbeAtMs: number | null;
}

interface ProviderHealth {
  target: HealthTarget;
  account: Circuit;
  probeFailing: boolean;
  /** An operator opened the breaker; only an operator closes it. */
  heldOpen: boolean;
  lastProbeAtMs: number;
  lastAnswerAtMs: number;
  timer: Timer | null;
}

type Route = Pick<Release, "route" | "provider">;

export class Health {
  private readonly providers: ReadonlyMap<string, ProviderHealth>;
  /** Only routes with failures stand here. */
  private readonly circuits = new Map<string, Circuit>();
  private readonly stopping = new AbortController();

  constructor(
    private readonly clock: Clock,
    targets: readonly HealthTarget[],
  ) {
    const blank = {
      account: CLOSED,
      probeFailing: false,
      heldOpen: false,
      lastProbeAtMs: Number.NEGATIVE_INFINITY,
      lastAnswerAtMs: Number.NEGATIVE_INFINITY,
      timer: null,
    };
    this.providers = new Map(targets.map((target) => [target.provider, { target, ...blank }]));
  }

  /** Whether a call may go out on this route now, be it as the trial of an open circuit. */
  permits(route: Route): boolean {
    const provider = this.providers.get(route.provider);
    if (provider === undefined) return true;
    const circuit = this.circuits.get(route.route);
    if (provider.probeFailing || provider.heldOpen) return false;
    if (circuit === undefined && provider.account === CLOSED) return true;
    const nowMs = this.clock.monotonicMs();
    return permits(provider.account, nowMs) && permits(circuit ?? CLOSED, nowMs);
  }

  /** Notes that a permitted call is about to go out; it takes the trial of an open circuit. */
  begin(route: Route): void {
    const provider = this.providers.get(route.provider);
    const circuit = this.circuits.get(route.route);
    if (provider === undefined || (circuit === undefined && provider.account === CLOSED)) return;
    const nowMs = this.clock.monotonicMs();
    provider.account = afterStart(provider.account, nowMs, provider.target);
    if (circuit !== undefined) this.circuits.set(route.route, afterStart(circuit, nowMs, provider.target));
  }

  /** Notes how a call ended; null = well. */
  report(route: Route, failure: CallFailure | null): void {
    const provider = this.providers.get(route.provider);
    if (provider === undefined) return;
    const meaning = failure === null ? "well" : MEANING[failure];
    const nowMs = this.clock.monotonicMs();
    if (meaning === "well") {
      provider.lastAnswerAtMs = nowMs;
      provider.account = CLOSED;
      this.circuits.delete(route.route);
    } else if (meaning === "account") {
      provider.account = afterFailure(provider.account, nowMs, { ...provider.target, fatal: true });
    } else if (meaning === "unwell") {
      const circuit = this.circuits.get(route.route) ?? CLOSED;
      this.circuits.set(route.route, afterFailure(circuit, nowMs, provider.target));
    }
  }

  /** The route's health as operators and callers see it. */
  of(route: Route): RouteHealth {
    const provider = this.providers.get(route.provider);
    const own = this.circuits.get(route.route) ?? CLOSED;
    const account = provider?.account ?? CLOSED;
    const circuit = account.phase === "closed" ? own : account;
    const { phase, failures, retryAtMs } = circuit;
    if (provider?.heldOpen === true)
      return { circuit: "open", failures, reason: "opened_by_hand", nextProbeAtMs: null };
    if (provider?.probeFailing === true) {
      const nextAtMs = provider.lastProbeAtMs + provider.target.intervalMs;
      return { circuit: phase, failures, reason: "probe_failing", nextProbeAtMs: this.wallTime(nextAtMs) };
    }
    if (phase === "closed") return { circuit: phase, failures, reason: null, nextProbeAtMs: null };
    const reason = circuit === own ? "circuit_open" : "account_refused";
    return { circuit: phase, failures, reason, nextProbeAtMs: this.wallTime(retryAtMs) };
  }

  /** The providers that get no calls until an operator says otherwise. */
  holdOpen(names: ReadonlySet<string>): void {
    for (const [name, provider] of this.providers) provider.heldOpen = names.has(name);
  }

  /** How the newest probe of a provider went; null where there was none. */
  lastProbe(name: string): { failing: boolean; atMs: number } | null {
    const provider = this.providers.get(name);
    if (provider === undefined || provider.lastProbeAtMs === Number.NEGATIVE_INFINITY) return null;
    const agoMs = this.clock.monotonicMs() - provider.lastProbeAtMs;
    return { failing: provider.probeFailing, atMs: Math.round(this.clock.nowMs() - agoMs) };
  }

  /** Probes every provider now and then at its interval, until `stop`. */
  start(): void {
    for (const provider of this.providers.values()) void this.keepProbing(provider);
  }

  stop(): void {
    this.stopping.abort();
    for (const { timer } of this.providers.values()) if (timer !== null) clearTimeout(timer);
  }

  /**
   * Probes one provider once: whether it is well, or null where nothing is probed. A failed probe counts unless a call
   * was answered since the probe before it.
   */
  async probe(name: string): Promise<boolean | null> {
    const provider = this.providers.get(name);
    const probe = provider?.target.probe ?? null;
    if (provider === undefined || probe === null) return null;
    const sinceMs = provider.lastProbeAtMs;
    provider.lastProbeAtMs = this.clock.monotonicMs();
    try {
      await probe(AbortSignal.any([this.stopping.signal, AbortSignal.timeout(PROBE_TIMEOUT_MS)]));
      provider.probeFailing = false;
      return true;
    } catch {
      if (!this.stopping.signal.aborted) provider.probeFailing = provider.lastAnswerAtMs <= sinceMs;
      return false;
    }
  }

  private async keepProbing(provider: ProviderHealth): Promise<void> {
    if (provider.target.probe === null) return;
    await this.probe(provider.target.provider);
    if (this.stopping.signal.aborted) return;
    provider.timer = setTimeout(() => void this.keepProbing(provider), provider.target.intervalMs);
    provider.timer.unref();
  }

  private wallTime(monotonicMs: number): number {
    return Math.round(this.clock.nowMs() + Math.max(monotonicMs - this.clock.monotonicMs(), 0));
  }
}
