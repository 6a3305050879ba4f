// The circuit breaker as a pure state machine: closed → open after consecutive failures → one trial call at a
// time → closed or open again. No clock, no timer; a trial that never reports is simply followed by the next
// one. Failures of only one organization open it for that one only: its own requests may be the cause, and
// its calls end together.

export interface CircuitLimits {
  openAfterFailures: number;
  halfOpenAfterMs: number;
}

export interface Circuit {
  phase: "closed" | "open" | "half_open";
  /** Consecutive failures. */
  failures: number;
  /** From this instant (monotonic milliseconds) one call may try. */
  retryAtMs: number;
  /** When it last stopped being closed (monotonic milliseconds); failed trials do not reset it. */
  openedAtMs: number;
  /** The only organization whose calls failed; null if there are several, or if it does not matter. */
  by: string | null;
}

export const CLOSED: Circuit = Object.freeze({
  phase: "closed",
  failures: 0,
  retryAtMs: 0,
  openedAtMs: 0,
  by: null,
});

/** True if it is effectively closed for this organization. */
const closedFor = ({ phase, by }: Circuit, organizationId: string): boolean =>
  phase === "closed" || (by !== null && by !== organizationId);

/** True if a call of this organization may go out now. */
export const permits = (circuit: Circuit, organizationId: string, nowMs: number): boolean =>
  closedFor(circuit, organizationId) || nowMs >= circuit.retryAtMs;

/**
 * A permitted call goes out: if the circuit is not closed for it, it is the trial, and the next one waits.
 */
export function afterStart(
  circuit: Circuit,
  nowMs: number,
  { halfOpenAfterMs, organizationId }: CircuitLimits & { organizationId: string },
): Circuit {
  if (closedFor(circuit, organizationId)) return circuit;
  return { ...circuit, phase: "half_open", retryAtMs: nowMs + halfOpenAfterMs };
}

/** The circumstances of a failed call. */
interface FailedCall extends CircuitLimits {
  /** The organization that called; null if it does not matter. */
  by: string | null;
  /** Opens the circuit at once. */
  fatal?: boolean;
}

/** A call failed. Calls from before the circuit opened do not prolong it. */
export function afterFailure(
  circuit: Circuit,
  nowMs: number,
  { openAfterFailures, halfOpenAfterMs, fatal = false, by: caller }: FailedCall,
): Circuit {
  const failures = circuit.failures + 1;
  const by = circuit.failures === 0 || circuit.by === caller ? caller : null;
  if (circuit.phase === "open") return { ...circuit, failures, by };
  const opens = fatal || circuit.phase === "half_open" || failures >= openAfterFailures;
  if (!opens) return { ...CLOSED, failures, by };
  const openedAtMs = circuit.phase === "closed" ? nowMs : circuit.openedAtMs;
  return { phase: "open", failures, retryAtMs: nowMs + halfOpenAfterMs, openedAtMs, by };
}
