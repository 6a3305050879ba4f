// Named places where a test kills this process as a power failure would (money.md §3):
// TOLLGATE_CRASH_AT=<point>[:n] ends it with SIGKILL the n-th time it reaches the point. Without the variable
// a point costs one comparison.

export type CrashPoint =
  | "before_commit1"
  | "after_commit1"
  | "after_request_bytes"
  | "after_provider_refusal"
  | "after_first_part"
  | "mid_stream"
  | "before_commit2"
  | "after_commit2"
  | "after_last_byte"
  | "in_sweep"
  | "payment_received"
  | "payment_credited"
  | "person_changed"
  | "person_committed"
  | "line_carried"
  | "move_fenced"
  | "move_marked"
  | "move_resolved"
  | "move_copied"
  | "move_people_row"
  | "move_people"
  | "move_checked"
  | "move_opened"
  | "move_people_aside"
  | "backup_written"
  | "restore_verified"
  | "restore_aside"
  | "restore_set_aside"
  | "restore_reported"
  | "restore_done"
  | "rotate_drawn"
  | "rotate_resealing"
  | "rotate_resealed"
  | "rotate_committed"
  | "rotate_kept";

const [awaited, nth = "1"] = (process.env.TOLLGATE_CRASH_AT ?? "").split(":");
let left = Number(nth);

/** Ends the process here if a test asked for it. */
export function crashPoint(point: CrashPoint): void {
  if (point !== awaited) return;
  left -= 1;
  if (left > 0) return;
  process.kill(process.pid, "SIGKILL");
  for (;;); // the signal arrives before this thread continues
}
