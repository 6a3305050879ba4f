// Why each call to a provider was left, and who paid for it: read from how it ended and from what the request cost.
import type { AppAnswer } from "../../contract/app.ts";
import type { AttemptRecord, RequestRecord } from "../../ledger/ledger.ts";

type Judged = AppAnswer<"GET /orgs/{org}/activity/{request}">["attempts"][number];

export const judgedAttempts = (record: RequestRecord): Judged[] =>
  record.attempts.map((attempt, at) => {
    const isLast = at === record.attempts.length - 1;
    return { n: attempt.n, reason: reasonOf(attempt), paid_by: payerOf(record, { attempt, isLast }) };
  });

/** Null while nobody knows. The customer pays for one call at most, the last; what the others cost is the house's. */
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
      return `Left before the provider ran it${told}: nothing was delivered.`;
    case "failed":
      return `The provider ran it and failed${told}.`;
    case "unknown":
      return `The connection ended without a verdict${told}: the provider may have run it.`;
  }
}
