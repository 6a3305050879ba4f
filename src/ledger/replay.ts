// Returns the stored answer of a repeated request, the same on both stores.
import type { Query } from "../store/sql.ts";
import type { DecidedAdmission } from "./decide/admission.ts";
import { resultUnreadable } from "./decide/policy-refusals.ts";
import type { AdmissionDecision } from "./ledger.ts";
import { answerLength, findAnswer } from "./requests.ts";
import { UnreadableRecord } from "./unreadable.ts";

/**
 * Returns the replay with its bytes, or a refusal if there is no room for them. Damaged bytes are
 * refused, and reported to the operator through `failed`.
 */
export function* replayed(
  decision: Extract<DecidedAdmission, { kind: "replay" }>,
  { dataKey, failed }: { dataKey: Uint8Array; failed: (error: UnreadableRecord) => void },
): Query<AdmissionDecision> {
  const { admission, requestId } = decision;
  try {
    const full = admission.roomFor === undefined ? null : admission.roomFor(yield* answerLength(decision));
    if (full !== null) return { kind: "refused", refusal: full, authenticated: true };
    const answer = yield* findAnswer(decision, dataKey);
    if (answer !== null) return { kind: "replay", answer };
    throw new UnreadableRecord(`the stored answer of ${requestId}`, "it should be kept but is missing");
  } catch (error) {
    if (!(error instanceof UnreadableRecord)) throw error;
    failed(error);
    return { kind: "refused", refusal: resultUnreadable(requestId), authenticated: true };
  }
}
