// The circuit breaker as a pure state machine: closed → open after failures in a row → one trial call at a time →
// closed or open again. No clock, no timer; a trial that never reports is simply followed by the next one.

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
}

export const CLOSED: Circuit = Object.freeze({ phase: "closed", failures: 0, retryAtMs: 0, openedAtMs: 0 });

/** Whether a call may go out now. */
export const permits = (circuit: Circuit, nowMs: number): boolean =>
  circuit.phase === "closed" || nowMs >= circuit.retryAtMs;

/** A permitted call goes out: on a circuit that is not closed it is the trial, and the next one waits. */
export function afterStart(circuit: Circuit, nowMs: number, limits: CircuitLimits): Circuit {
  if (circuit.phase === "closed") return circuit;
  return { ...circuit, phase: "half_open", retryAtMs: nowMs + limits.halfOpenAfterMs };
}

/** A call failed. `fatal` failures open the circuit at once. Calls from before an opening do not prolong it. */
export function afterFailure(
  circuit: Circuit,
  nowMs: number,
  { openAfterFailures, halfOpenAfterMs, fatal = false }: CircuitLimits & { fatal?: boolean },
): Circuit {
  const failures = circuit.failures + 1;
  if (circuit.phase === "open") return { ...circuit, failures };
  const opens = fatal || circuit.phase === "half_open" || failures >= openAfterFailures;
  if (!opens) return { ...CLOSED, failures };
  const openedAtMs = circuit.phase === "closed" ? nowMs : circuit.openedAtMs;
  return { phase: "open", failures, retryAtMs: nowMs + halfOpenAfterMs, openedAtMs };
}
