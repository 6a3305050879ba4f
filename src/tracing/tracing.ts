// Traces of requests (operate.md §3): begun when a request arrives, reported once it is resolved. A request that is
// not sampled costs at most its ids. If tracing is not configured there is no `Tracing`, and nothing runs on the
// request path.
import { randomBytes } from "node:crypto";
import { parseTraceparent } from "../domain/traceparent.ts";
import type { Completion } from "../gateway/complete.ts";
import type { Admitted, Hold } from "../gateway/hold.ts";
import { RequestTrace } from "../gateway/trace.ts";
import type { Settlement, Voiding } from "../ledger/ledger.ts";
import type { Clock } from "../lib/clock.ts";
import type { Span } from "./otlp.ts";
import { isSampled, type Sampling } from "./sampler.ts";
import { spansOfResolved, spansOfUnheld } from "./spans.ts";

export interface TracingPorts {
  sampling: Sampling;
  clock: Clock;
  /** Null if traces are only passed on to providers. */
  exporter: { add(spans: readonly Span[]): void } | null;
  /** True if any provider is sent traces. */
  passedOn: boolean;
  /** `gen_ai.provider.name` by a provider's name in the configuration. */
  providerNames: ReadonlyMap<string, string>;
}

export class Tracing {
  constructor(private readonly on: TracingPorts) {}

  /** Returns the trace of a request that just arrived; null if nobody will receive it. */
  begin(traceparent: string | null, receivedAtMs: number): RequestTrace | null {
    const { sampling, clock, exporter, passedOn } = this.on;
    const parent = parseTraceparent(traceparent);
    const traceId = parent?.traceId ?? randomBytes(16).toString("hex");
    const sampled = exporter === null ? (parent?.sampled ?? false) : isSampled(sampling, traceId, parent);
    if (!sampled && (!passedOn || parent === null)) return null;
    return new RequestTrace({ traceId, parentId: parent?.spanId ?? null, sampled, receivedAtMs }, clock);
  }

  /** Called once a hold was resolved, durably. */
  resolved({ admitted, attempts }: Hold, ending: Settlement | Voiding): void {
    const { trace } = admitted;
    const { exporter, providerNames, clock } = this.on;
    if (exporter === null || trace?.begun.sampled !== true) return;
    exporter.add(spansOfResolved({ trace, admitted, attempts, ending, providerNames, endMs: clock.nowMs() }));
  }

  /**
   * Reports a request that held nothing. A caller without a valid key leaves no span: a flood of strangers displaces
   * nobody's spans.
   */
  concluded(trace: RequestTrace, completion: Completion, of: Pick<Admitted, "format" | "requestId">): void {
    const { exporter, clock } = this.on;
    const { kind } = completion;
    if (exporter === null || !trace.begun.sampled || kind === "answer" || kind === "stream") return;
    if (kind === "refused" && completion.gateway === null) return;
    const refusal = kind === "refused" ? completion.refusal : null;
    const status = refusal?.status ?? (kind === "replay" ? completion.answer.status : 200);
    const outcome = OUTCOMES[kind];
    exporter.add(
      spansOfUnheld(trace, { ...of, endMs: clock.nowMs(), outcome, status, error: refusal?.code ?? null }),
    );
  }
}

const OUTCOMES = { refused: "refused", replay: "replayed", follow: "followed" } as const;
