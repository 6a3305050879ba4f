// Who may decide an entitlement, and how many may be requested: each is a decision that people have to make
// (S35). Pure functions over locked rows.

/** The most undecided requests of one organization. */
export const OPEN_REQUESTS_MAX = 20;
/** The most requests within a day, including withdrawn and declined ones. */
export const REQUESTS_A_DAY_MAX = 100;

/** Too many open requests for anybody to decide, or too many requested and withdrawn in a day. */
export type TooManyRequests = "too_many_open" | "too_many_a_day";

/** Null if one more may be requested. */
export function decideAsking({ open, ofTheDay }: { open: number; ofTheDay: number }): TooManyRequests | null {
  if (open >= OPEN_REQUESTS_MAX) return "too_many_open";
  return ofTheDay >= REQUESTS_A_DAY_MAX ? "too_many_a_day" : null;
}

export type Approval = "approve" | "not_requested" | "second_person_required";

/**
 * Four eyes: the person who requested an entitlement does not approve it, whatever credential they use
 * (hardening.md S10). `approver` is the person behind the call, as `requester` is the person behind the
 * request.
 */
export function decideApproval(
  { status, requester }: { status: string; requester: string },
  approver: string,
): Approval {
  if (status !== "requested") return "not_requested";
  return requester === approver ? "second_person_required" : "approve";
}
