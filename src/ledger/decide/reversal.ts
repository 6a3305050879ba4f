// Reverses money, once per (source, external id): a disputed or refunded payment takes credits away, a refunded request
// returns them (money.md §5). What a chargeback cannot take becomes debt, and admission stops until it is paid.
import type { Actor } from "../../domain/actor.ts";
import { formatUsd, minUsd, type NanoUsd, subUsd, ZERO_USD } from "../../domain/money.ts";
import type { AccountPostings } from "../commit/account-postings.ts";
import type { BatchState } from "../commit/batch-state.ts";
import type { Ledger, ReversalOutcome } from "../ledger.ts";
import { type RefundableRow, rowId } from "../rows.ts";
import { tellReason } from "./reason.ts";

export type Reversal = Parameters<Ledger["reverse"]>[0];

/** Takes away or returns once, at most the amount that may be reversed. Throws for an amount that is not above zero. */
export function decideReversal(batch: BatchState, reversal: Reversal, actor: Actor): ReversalOutcome {
  const { organizationId, amount, kind, source, externalId, target } = reversal;
  const postings = batch.postingsOf(organizationId);
  if (postings === null) return { kind: "unknown_organization" };
  const id = rowId(organizationId, source, externalId);
  const earlier = batch.rows.reversals.get(id);
  if (earlier !== undefined) {
    const same = earlier.amount === amount && earlier.kind === kind && earlier.target === target;
    return same
      ? { kind: "repeated", balance: earlier.balanceAfter, debt: earlier.debtAfter }
      : { kind: "conflict" };
  }
  if (amount <= 0n) throw new Error(`a reversal of ${amount} nano-USD`);
  const request = batch.rows.refundables.get(rowId(organizationId, target));
  if (kind === "refund" && request === undefined) return { kind: "unknown_request" };
  const atMost = mostThatGoesBack(postings, request);
  if (amount > atMost) return { kind: "exceeds", atMost };

  const before = printed(postings);
  const reference = JSON.stringify([source, externalId]);
  if (request === undefined) chargeBack(postings, amount, reference);
  else giveBack(postings, { amount, reference, request });
  const { available: balance, debt } = postings.balance;
  const row = { amount, kind, target, balanceAfter: balance, debtAfter: debt };
  batch.rows.reversals.set(id, row);
  const { txn, atMs } = postings;
  batch.changes.reversals.push({ ...row, organizationId, source, externalId, txn, atMs });
  batch.changes.auditLines.push({
    atMs,
    actor,
    action: `credits.${kind}`,
    organizationId,
    target: `${target} ${reference}`,
    before,
    after: printed(postings),
  });
  tellReason(batch, { ...reversal, atMs }, actor);
  return { kind: "reversed", balance, debt };
}

/** A refund can return at most what the request cost; a chargeback can take at most what was paid in. */
const mostThatGoesBack = (postings: AccountPostings, request: RefundableRow | undefined): NanoUsd =>
  request === undefined ? postings.balance.purchased : subUsd(request.charge, request.refunded);

function chargeBack(postings: AccountPostings, amount: NanoUsd, reference: string): void {
  // Open holds stay with their requests; what they return later pays the debt.
  const found = minUsd(postings.balance.available, amount);
  postings.moveReferenced("chargeback", found, reference);
  postings.moveReferenced("chargeback_debt", subUsd(amount, found), reference);
}

function giveBack(
  postings: AccountPostings,
  { amount, reference, request }: { amount: NanoUsd; reference: string; request: RefundableRow },
): void {
  postings.moveReferenced("refund", amount, reference);
  request.refunded = (request.refunded + amount) as NanoUsd;
  postings.payDebt(reference);
}

const printed = ({ balance: { available, debt } }: AccountPostings): Record<string, string> => ({
  available_usd: formatUsd(available),
  ...(debt !== ZERO_USD && { debt_usd: formatUsd(debt) }),
});
