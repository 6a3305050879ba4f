// The `traceparent` header of W3C Trace Context. `tracestate` is the caller's free text: it is neither kept nor passed on.

/** The trace that a caller asks to join, the parent span of ours, and whether the caller records it. */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  traceId: string;
  /** 16 hexadecimal digits: the span that asked. */
  spanId: string;
  sampled: boolean;
}

const HEADER = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const LENGTH_MAX = 512;

/** Null for an invalid header: the request then begins a trace of its own. */
export function parseTraceparent(text: string | null): TraceContext | null {
  if (text === null || text.length > LENGTH_MAX) return null;
  const [, version, traceId = "", spanId = "", flags = "", more] = HEADER.exec(text) ?? [];
  if (version === undefined || version === "ff" || (version === "00" && more !== undefined)) return null;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

export const printTraceparent = ({ traceId, spanId, sampled }: TraceContext): string =>
  `00-${traceId}-${spanId}-${sampled ? "01" : "00"}`;
