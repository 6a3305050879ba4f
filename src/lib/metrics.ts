// Counters in memory, printed for Prometheus. Labels come only from closed sets: never a key, an organization or a
// request (S34). The library sits behind this file, so that it can be replaced.
import { collectDefaultMetrics, Counter, Gauge, Registry } from "prom-client";

export class Metrics {
  private readonly registry = new Registry();
  private readonly responses = this.counter("tollgate_responses_total", "Responses by status.", ["status"]);
  private readonly attempts = this.counter("tollgate_attempts_total", "Provider calls by how they ended.", [
    "outcome",
  ]);
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

  private readonly overloads = this.counter(
    "tollgate_overload_refusals_total",
    "Requests that were refused because the gateway was full, stopping, or without its store.",
    [],
  );
  /** The same since the start, for the page of operators. */
  overloadRefusals = 0;

  /** `openStreams` is read at each scrape. */
  constructor(openStreams: () => number) {
    collectDefaultMetrics({ register: this.registry });
    new Gauge({
      name: "tollgate_open_streams",
      help: "Streams being relayed.",
      registers: [this.registry],
      collect() {
        this.set(openStreams());
      },
    });
  }

  responded(status: number): void {
    this.responses.inc({ status: String(status) });
  }

  attempted(outcome: string): void {
    this.attempts.inc({ outcome });
  }

  overloaded(): void {
    this.overloads.inc();
    this.overloadRefusals += 1;
  }

  abandoned(): void {
    this.abandonedHolds.inc();
  }

  unkeyedRetry(): void {
    this.unkeyedRetries.inc();
  }

  async print(): Promise<{ text: string; contentType: string }> {
    return { text: await this.registry.metrics(), contentType: this.registry.contentType };
  }

  private counter<L extends string>(name: string, help: string, labelNames: L[]): Counter<L> {
    return new Counter({ name, help, labelNames, registers: [this.registry] });
  }
}
