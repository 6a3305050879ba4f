// Counters in memory, printed for Prometheus. Labels come only from closed sets: never a key, an organization
// or a request (S34). Only this file uses the library, so that it can be replaced.
import Counter from "prom-client/lib/counter";
import Gauge from "prom-client/lib/gauge";
import Registry from "prom-client/lib/registry";
import { tellOfProcess } from "./process-metrics.ts";

interface Figures {
  openStreams: () => number;
  /** Failed runs since the start, by job; 0 for a job that never failed. */
  failedJobs: () => ReadonlyMap<string, number>;
  quarantined: () => number;
  /** Further metrics, in Prometheus' text format. */
  beside: () => string;
}

/**
 * Counts what each request adds to: the library builds label strings on each call, so it is updated only at a
 * scrape.
 */
class Tally {
  private readonly counts = new Map<string | number, Map<string, number>>();

  add(first: string | number, second: string, by: number): void {
    let own = this.counts.get(first);
    if (own === undefined) this.counts.set(first, (own = new Map<string, number>()));
    own.set(second, (own.get(second) ?? 0) + by);
  }

  *entries(): Generator<[first: string | number, second: string, count: number]> {
    for (const [first, own] of this.counts) for (const [second, count] of own) yield [first, second, count];
  }
}

export class Metrics {
  private readonly registry = new Registry();
  private readonly responses = this.tally(
    "tollgate_responses_total",
    "Responses by status and surface; none: the path belongs to no surface.",
    ["status", "surface"],
  );
  private readonly attempts = this.tally(
    "tollgate_attempts_total",
    "Calls by configured provider and outcome: answered, or the class of failure.",
    ["provider", "outcome"],
  );
  private readonly abandonedHolds = this.counter(
    "tollgate_abandoned_holds_total",
    "Requests that ended with their hold open.",
    [],
  );
  private readonly unkeyedRetries = this.counter(
    "tollgate_retries_without_idempotency_key_total",
    "Requests that an official client marked as a retry but that carried no Idempotency-Key.",
    [],
  );

  private readonly refusals = this.counter(
    "tollgate_refusals_total",
    "Requests that ended with an error, by its code.",
    ["code"],
  );

  private readonly overloads = this.counter(
    "tollgate_overload_refusals_total",
    "Requests refused because the gateway was full, was stopping, or could not reach its store.",
    [],
  );
  /** The same since the start, for the operators' page. */
  overloadRefusals = 0;

  private readonly limitRefusals = this.counter(
    "tollgate_limit_refusals_total",
    "Requests refused because a limit was reached, by its setting.",
    ["limit"],
  );

  private readonly doubts = this.counter(
    "tollgate_provider_doubts_total",
    "Answers whose figures were not accepted as the provider reported them, by provider and reason.",
    ["provider", "reason"],
  );

  private readonly exportedSpans = this.counter(
    "tollgate_spans_exported_total",
    "Trace spans that the collector accepted.",
    [],
  );
  private readonly droppedSpans = this.counter(
    "tollgate_spans_dropped_total",
    "Trace spans that reached no collector, by reason: it was unavailable, it refused them, or they arrived faster than they could be sent.",
    ["reason"],
  );

  /** All `figures` are read at each scrape. */
  constructor(private readonly figures: Figures) {
    const { openStreams, failedJobs, quarantined } = figures;
    tellOfProcess(this.registry);
    this.gauge(
      "tollgate_quarantined_requests",
      "Requests whose record is damaged: their credits stay held until an operator decides.",
      quarantined,
    );
    this.gauge("tollgate_open_streams", "Streams being relayed.", openStreams);
    new Counter({
      name: "tollgate_failed_jobs_total",
      help: "Runs of background work that failed, by job; each has its line in the log.",
      labelNames: ["task"], // `job` is Prometheus' own label for the scrape target
      registers: [this.registry],
      collect() {
        this.reset();
        for (const [task, failures] of failedJobs()) this.inc({ task }, failures);
      },
    });
  }

  /** `surface` is one of the served formats; null for other paths. */
  responded(status: number, surface: string | null): void {
    this.responses.add(status, surface ?? "none", 1);
  }

  /**
   * Starts known series at zero: a series that first appears as 1 has no increase that an alert could see.
   */
  beginAtZero(of: Record<"providers" | "outcomes" | "doubts" | "losses", readonly string[]>): void {
    for (const provider of of.providers) {
      for (const outcome of of.outcomes) this.attempts.add(provider, outcome, 0);
      for (const reason of of.doubts) this.doubts.inc({ provider, reason }, 0);
    }
    for (const reason of of.losses) this.droppedSpans.inc({ reason }, 0);
  }

  /** `code` is from the table of refusals, or one of the ledger's reasons for a released request. */
  refused(code: string): void {
    this.refusals.inc({ code });
  }

  attempted(provider: string, outcome: string): void {
    this.attempts.add(provider, outcome, 1);
  }

  overloaded(): void {
    this.overloads.inc();
    this.overloadRefusals += 1;
  }

  /** `limit` is the name of a setting. */
  limitRefused(limit: string): void {
    this.limitRefusals.inc({ limit });
  }

  /** `provider` is from the configuration, `reason` from a closed list. */
  doubted(provider: string, reason: string): void {
    this.doubts.inc({ provider, reason });
  }

  spansExported(spans: number): void {
    this.exportedSpans.inc(spans);
  }

  /** `reason` is from a closed list. */
  spansDropped(reason: string, spans: number): void {
    this.droppedSpans.inc({ reason }, spans);
  }

  /** `waiting` is read at each scrape. */
  watchSpans(waiting: () => number): void {
    this.gauge("tollgate_spans_waiting", "Trace spans waiting to be exported.", waiting);
  }

  abandoned(): void {
    this.abandonedHolds.inc();
  }

  unkeyedRetry(): void {
    this.unkeyedRetries.inc();
  }

  async print(): Promise<{ text: string; contentType: string }> {
    const { registry, figures } = this;
    return { text: `${await registry.metrics()}\n${figures.beside()}`, contentType: registry.contentType };
  }

  private counter<L extends string>(name: string, help: string, labelNames: L[]): Counter<L> {
    return new Counter({ name, help, labelNames, registers: [this.registry] });
  }

  private tally(name: string, help: string, labels: [string, string]): Tally {
    const tally = new Tally();
    new Counter({
      name,
      help,
      labelNames: labels,
      registers: [this.registry],
      collect() {
        this.reset();
        for (const [first, second, count] of tally.entries())
          this.inc({ [labels[0]]: String(first), [labels[1]]: second }, count);
      },
    });
    return tally;
  }

  private gauge(name: string, help: string, now: () => number): void {
    new Gauge({
      name,
      help,
      registers: [this.registry],
      collect() {
        this.set(now());
      },
    });
  }
}
