// Why each call to a provider was abandoned, and who paid for it, derived from its outcome and the request's
// cost.
import type { RequestJson } from "../api/shapes/requests.ts";
import type * as activityShapes from "../api/shapes/activity.ts";
import type { z } from "zod";
import type { AttemptRecord, Doubt, RequestRecord } from "../ledger/records.ts";

type Attempt = RequestJson["attempts"][number];
type Judged = z.output<typeof activityShapes.activityDetail>["attempts"][number];

/** One per attempt, in order; `paid_by` is null if unknown. */
export const judgedAttempts = (record: RequestRecord): Judged[] =>
  record.attempts.map((attempt, at) => {
    const isLast = at === record.attempts.length - 1;
    return {
      n: attempt.n,
      reason: [reasonOf(attempt), ...doubtsOf(attempt)].join(" "),
      paid_by: payerOf(record, { attempt, isLast }),
    };
  });

/** Failures caused by the request itself: the provider's message helps its sender. */
const ABOUT_THE_REQUEST: ReadonlySet<string> = new Set(["bad_request", "context_length", "content_filter"]);

/** What a provider says about our account, our models or itself is for operators. */
export const forMembers = (attempt: Attempt): Attempt =>
  ABOUT_THE_REQUEST.has(attempt.error_class ?? "") ? attempt : { ...attempt, words: null };

/** Null if unknown. The customer pays for at most one call, the last; the platform pays for the others. */
function payerOf(
  { state, charge, variance }: RequestRecord,
  { attempt, isLast }: { attempt: AttemptRecord; isLast: boolean },
): Judged["paid_by"] {
  if (attempt.outcome === "not_executed") return "nobody";
  if (!isLast) return "house";
  if (state === "running") return null;
  if (charge > 0n) return "customer";
  return variance > 0n || attempt.outcome === "unknown" ? "house" : "nobody";
}

const DOUBTS: Record<Doubt, string> = {
  usage_clamped: "It reported more tokens than were quoted; only the quoted ones were charged.",
  usage_below_delivered: "It reported far fewer tokens than it delivered; what was delivered was counted.",
  output_above_maximum: "It exceeded the output maximum that it was given.",
};

const doubtsOf = ({ doubts = [] }: AttemptRecord): string[] => doubts.map((doubt) => DOUBTS[doubt]);

function reasonOf({ outcome, upstreamStatus, errorClass }: AttemptRecord): string {
  const how = [
    ...(upstreamStatus === null ? [] : [`status ${upstreamStatus}`]),
    ...(errorClass === null ? [] : [errorClass.replaceAll("_", " ")]),
  ].join(", ");
  const told = how === "" ? "" : ` (${how})`;
  switch (outcome) {
    case "answered":
      return "The provider answered.";
    case "not_executed":
      return `The provider did not run it${told}: nothing was delivered.`;
    case "failed":
      return `The provider ran it and failed${told}.`;
    case "unknown":
      return `The connection ended without a result${told}: the provider may have run it.`;
  }
}
