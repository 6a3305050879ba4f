// Money that goes back, once per (source, external id): a payment disputed or paid back takes credits away, a refunded
// request returns them (money.md §5). What a chargeback does not find becomes debt, and admission stops until it is paid.
import type { Actor } from "../contract/actor.ts";
import { formatUsd, minUsd, type NanoUsd, subUsd, ZERO_USD } from "../contract/money.ts";
import type { Books } from "./books.ts";
import type { Draft } from "./draft.ts";
import type { Ledger, ReversalOutcome } from "./ledger.ts";
import { type RefundableRow, rowId } from "./rows.ts";

export type Reversal = Parameters<Ledger["reverse"]>[0];

export function decideReversal(draft: Draft, reversal: Reversal, actor: Actor): ReversalOutcome {
  const { organizationId, amount, kind, source, externalId, target } = reversal;
  const books = draft.booksOf(organizationId);
  if (books === null) return { kind: "unknown_organization" };
  const id = rowId(organizationId, source, externalId);
  const earlier = draft.rows.reversals.get(id);
  if (earlier !== undefined) {
    const same = earlier.amount === amount && earlier.kind === kind && earlier.target === target;
    return same
      ? { kind: "repeated", balance: earlier.balanceAfter, debt: earlier.debtAfter }
      : { kind: "conflict" };
  }
  if (amount <= 0n) throw new Error(`a reversal of ${amount} nano-USD`);
  const request = draft.rows.refundables.get(rowId(organizationId, target));
  if (kind === "refund" && request === undefined) return { kind: "unknown_request" };
  const atMost = mostThatGoesBack(books, request);
  if (amount > atMost) return { kind: "exceeds", atMost };

  const before = printed(books);
  const reference = JSON.stringify([source, externalId]);
  if (request === undefined) chargeBack(books, amount, reference);
  else giveBack(books, { amount, reference, request });
  const { available: balance, debt } = books.balance;
  const row = { amount, kind, target, balanceAfter: balance, debtAfter: debt };
  draft.rows.reversals.set(id, row);
  const { txn, atMs } = books;
  draft.changes.reversals.push({ ...row, organizationId, source, externalId, txn, atMs });
  draft.changes.auditLines.push({
    atMs,
    actor,
    action: `credits.${kind}`,
    organizationId,
    target: `${target} ${reference}`,
    before,
    after: printed(books),
  });
  return { kind: "reversed", balance, debt };
}

/** A request gives back what it cost; a chargeback can only take what was once paid in. */
const mostThatGoesBack = (books: Books, request: RefundableRow | undefined): NanoUsd =>
  request === undefined ? books.balance.purchased : subUsd(request.charge, request.refunded);

function chargeBack(books: Books, amount: NanoUsd, reference: string): void {
  // Open holds stay with their requests; what comes back from them pays the debt then.
  const found = minUsd(books.balance.available, amount);
  books.moveReferenced("chargeback", found, reference);
  books.moveReferenced("chargeback_debt", subUsd(amount, found), reference);
}

function giveBack(
  books: Books,
  { amount, reference, request }: { amount: NanoUsd; reference: string; request: RefundableRow },
): void {
  books.moveReferenced("refund", amount, reference);
  request.refunded = (request.refunded + amount) as NanoUsd;
  books.payDebt(reference);
}

const printed = ({ balance: { available, debt } }: Books): string =>
  JSON.stringify({
    available_usd: formatUsd(available),
    ...(debt !== ZERO_USD && { debt_usd: formatUsd(debt) }),
  });
