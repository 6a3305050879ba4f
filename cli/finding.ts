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

/**
 * A finding that keeps a gateway from starting, in the words of its start: the problem, and after a semicolon the
 * remedy.
 */
export function refused(check: string, words: string, way?: string): Finding {
  const [found = words, ...rest] = words.split("; ");
  const out = way ?? rest.join("; ");
  const next = out === "" ? "Correct it, then try again." : `${out.slice(0, 1).toUpperCase()}${out.slice(1)}`;
  return { check, state: "wrong", found, next: /[.!?)]$|FILE$|USER \S+$/.test(next) ? next : `${next}.` };
}
