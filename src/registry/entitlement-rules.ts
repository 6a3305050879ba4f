// Who may decide an entitlement, and how many may be asked for: each is a decision that people have to take (S35). Pure
// over locked rows.

/** Requests that nobody has decided yet, of one organization. */
export const OPEN_REQUESTS_MAX = 20;
/** Asked for within a day, withdrawn and declined ones included. */
export const REQUESTS_A_DAY_MAX = 100;

/** More than anybody decides at once; or asked for and withdrawn over and over. */
export type TooManyRequests = "too_many_open" | "too_many_a_day";

/** Null when one more may be asked for. */
export function decideAsking({ open, ofTheDay }: { open: number; ofTheDay: number }): TooManyRequests | null {
  if (open >= OPEN_REQUESTS_MAX) return "too_many_open";
  return ofTheDay >= REQUESTS_A_DAY_MAX ? "too_many_a_day" : null;
}

export type Approval = "approve" | "not_requested" | "second_person_required";

/**
 * Four eyes: who asked for an entitlement does not approve it, under whichever hat they come (hardening.md S10).
 * `approver`: the person behind the call, as `requester` is the one behind the request.
 */
export function decideApproval(
  { status, requester }: { status: string; requester: string },
  approver: string,
): Approval {
  if (status !== "requested") return "not_requested";
  return requester === approver ? "second_person_required" : "approve";
}
