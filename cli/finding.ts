// What `doctor` found, and what to do about it.

export interface Finding {
  check: string;
  state: "ok" | "note" | "wrong";
  found: string;
  /** What to do; null if nothing needs doing. */
  next: string | null;
}

export const ok = (check: string, found: string): Finding => ({ check, state: "ok", found, next: null });
export const note = (check: string, found: string, next: string): Finding => ({
  check,
  state: "note",
  found,
  next,
});

/** A finding that keeps a gateway from starting, worded as the start itself words it. `wayOut` becomes a sentence. */
export function refused(check: string, found: string, wayOut = "Correct it, then try again."): Finding {
  const next = `${wayOut.slice(0, 1).toUpperCase()}${wayOut.slice(1)}`;
  return { check, state: "wrong", found, next: /[.!?)]$|FILE$|USER \S+$/.test(next) ? next : `${next}.` };
}
