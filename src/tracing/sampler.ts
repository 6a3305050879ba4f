// Which requests are traced, by the samplers that OpenTelemetry names for OTEL_TRACES_SAMPLER.
import type { TraceContext } from "../domain/traceparent.ts";

export const SAMPLERS = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
] as const;

export interface Sampling {
  sampler: (typeof SAMPLERS)[number];
  /** 0 to 1, for the two samplers that use the trace's id. */
  ratio: number;
}

/** `parent` is the caller's trace context; the parent-based samplers leave the decision to the caller. */
export function isSampled(
  { sampler, ratio }: Sampling,
  traceId: string,
  parent: TraceContext | null,
): boolean {
  if (parent !== null && sampler.startsWith("parentbased_")) return parent.sampled;
  if (sampler.endsWith("always_on")) return true;
  if (sampler.endsWith("always_off")) return false;
  return shareOf(traceId) >= 1 - ratio;
}

/** 0 ≤ share < 1, the same for everybody who sees this trace: its last 52 bits, which are random, and exact as a number. */
const shareOf = (traceId: string): number => Number.parseInt(traceId.slice(19), 16) / 2 ** 52;
