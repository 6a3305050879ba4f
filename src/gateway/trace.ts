// The place of one request in its trace: ids, and the instants that no record has. Created only if tracing is set up; its spans are
// created once, when the request is resolved (`src/tracing`).
import { randomBytes } from "node:crypto";
import { printTraceparent, type TraceContext } from "../domain/traceparent.ts";
import type { Clock } from "../lib/clock.ts";

/** 16 hex digits, as W3C Trace Context has them. */
export const newSpanId = (): string => randomBytes(8).toString("hex");

/** One request: a span of its own, and one for each call to a provider. */
export class RequestTrace {
  /** Id of the span of the whole request. */
  readonly spanId = newSpanId();
  admittedAtMs: number | null = null;
  settlingAtMs: number | null = null;
  private readonly attemptIds: string[] = [];

  constructor(
    readonly begun: {
      traceId: string;
      /** The caller's span; null if the trace begins here. */
      parentId: string | null;
      sampled: boolean;
      receivedAtMs: number;
    },
    private readonly clock: Pick<Clock, "nowMs">,
  ) {}

  /** COMMIT 1 has happened. */
  admitted(): this {
    this.admittedAtMs = this.clock.nowMs();
    return this;
  }

  /** COMMIT 2 begins. */
  settling(): void {
    this.settlingAtMs = this.clock.nowMs();
  }

  /** Span id of the nth call to a provider, from 1. */
  attemptId(n: number): string {
    while (this.attemptIds.length < n) this.attemptIds.push(newSpanId());
    return this.attemptIds[n - 1] ?? this.spanId;
  }

  /** The header sent to a provider with the nth call, if its configuration says so. */
  traceparent(n: number): string {
    const context: TraceContext = {
      traceId: this.begun.traceId,
      spanId: this.attemptId(n),
      sampled: this.begun.sampled,
    };
    return printTraceparent(context);
  }
}
