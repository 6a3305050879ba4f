// What `doctor` found, and what to do about it.

export interface Finding {
  check: string;
  state: "ok" | "note" | "wrong";
  found: string;
  /** What to do; null when nothing needs doing. */
  next: string | null;
}

export const ok = (check: string, found: string): Finding => ({ check, state: "ok", found, next: null });
export const note = (check: string, found: string, next: string): Finding => ({
  check,
  state: "note",
  found,
  next,
});
