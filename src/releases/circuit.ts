// The circuit breaker as a pure state machine: closed → open after failures in a row → one trial call at a time →
// closed or open again. No clock, no timer; a trial that never reports is simply followed by the next one. Failures of one
// organization alone open it for that one alone: what it asks for may be what fails, and its calls end together.

export interface CircuitLimits {
  openAfterFailures: number;
  halfOpenAfterMs: number;
}

export interface Circuit {
  phase: "closed" | "open" | "half_open";
  /** Failures in a row. */
  failures: number;
  /** From this instant on (monotonic milliseconds) one call may try. */
  retryAtMs: number;
  /** Since when it is not closed (monotonic milliseconds); trials that failed do not count anew. */
  openedAtMs: number;
  /** The one organization whose calls failed; null where there are several, or where it does not matter. */
  by: string | null;
}

export const CLOSED: Circuit = Object.freeze({
  phase: "closed",
  failures: 0,
  retryAtMs: 0,
  openedAtMs: 0,
  by: null,
});

/** Whether it is as good as closed for this organization. */
const closedFor = ({ phase, by }: Circuit, organizationId: string): boolean =>
  phase === "closed" || (by !== null && by !== organizationId);

/** Whether a call of this organization may go out now. */
export const permits = (circuit: Circuit, organizationId: string, nowMs: number): boolean =>
  closedFor(circuit, organizationId) || nowMs >= circuit.retryAtMs;

/** A permitted call goes out: on a circuit that is not closed for it it is the trial, and the next one waits. */
export function afterStart(
  circuit: Circuit,
  nowMs: number,
  { halfOpenAfterMs, organizationId }: CircuitLimits & { organizationId: string },
): Circuit {
  if (closedFor(circuit, organizationId)) return circuit;
  return { ...circuit, phase: "half_open", retryAtMs: nowMs + halfOpenAfterMs };
}

/** How a call failed. */
interface FailedCall extends CircuitLimits {
  /** Whose call it was; null where that does not matter. */
  by: string | null;
  /** Opens the circuit at once. */
  fatal?: boolean;
}

/** A call failed. Calls from before an opening do not prolong it. */
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
