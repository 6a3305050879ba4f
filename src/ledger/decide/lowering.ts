// Lowers what a running request holds and reserves to what an exact count of its prompt still allows: once, while it runs, by
// one more entry (docs/decisions/0022-running-holds-are-lowered.md). If somebody else ended it first, nothing changes.
import { lowerRate } from "./rate.ts";
import { subUsd } from "../../domain/money.ts";
import type { BatchState } from "../commit/batch-state.ts";
import type { Lowering } from "../ledger.ts";
import { rowId } from "../rows.ts";

/** Changes nothing if the request is no longer running, was lowered before, or holds and reserves no more than that. */
export function decideLowering(batch: BatchState, lowering: Lowering): void {
  const { organizationId, requestId, hold, promptBound } = lowering;
  const request = batch.rows.requests.get(rowId(organizationId, requestId));
  const postings = batch.postingsOf(organizationId);
  if (request === undefined || postings === null) return;
  if (request.state !== "dispatched" || request.lowered || !isLower(lowering, request)) return;
  if (hold < 0n || promptBound > request.promptBound)
    throw new Error(`a hold of ${request.hold} lowered to ${hold}, for ${promptBound} prompt tokens`);
  const amount = subUsd(request.hold, hold);
  postings.moveForRequest("lower", amount);
  postings.payDebt(null);
  const month = batch.keyMonthNamed(organizationId, request.keyId, request.month);
  month.held = subUsd(month.held, amount);
  batch.changes.keyMonths.add(month);
  lowerRate(batch, request, request.promptBound - promptBound);
  batch.changes.lowered.push({
    organizationId,
    requestId,
    epoch: request.epoch,
    holdRead: request.hold,
    hold,
    promptBound,
    lowered: amount,
    loweredTxn: batch.context.txn,
  });
  Object.assign(request, { hold, promptBound, lowered: true });
}

/** A request that costs nothing, or no more than its minimum, holds the same for fewer tokens. */
const isLower = (to: Terms, from: Terms): boolean =>
  to.hold < from.hold || (to.hold === from.hold && to.promptBound < from.promptBound);

type Terms = Pick<Lowering, "hold" | "promptBound">;
