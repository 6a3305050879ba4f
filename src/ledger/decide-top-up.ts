// Money in: a purchase or a grant, credited once per (source, external id), however often it is reported (money.md §5).
// Open debt is paid from it at once; a purchase makes the organization a paid workspace.
import type { Actor } from "../contract/actor.ts";
import { type NanoUsd, formatUsd } from "../contract/money.ts";
import type { Draft } from "./draft.ts";
import type { Ledger, TopUpOutcome } from "./ledger.ts";
import { rowId } from "./rows.ts";

export type TopUp = Parameters<Ledger["topUp"]>[0];

export function decideTopUp(draft: Draft, topUp: TopUp, actor: Actor): TopUpOutcome {
  const { organizationId, amount, kind, source, externalId } = topUp;
  const books = draft.booksOf(organizationId);
  if (books === null) return { kind: "unknown_organization" };
  const id = rowId(organizationId, source, externalId);
  const earlier = draft.rows.topUps.get(id);
  if (earlier !== undefined) {
    const same = earlier.amount === amount && earlier.kind === kind;
    return same ? { kind: "repeated", balance: earlier.balanceAfter } : { kind: "conflict" };
  }
  if (amount <= 0n) throw new Error(`a top-up of ${amount} nano-USD`);
  const reference = JSON.stringify([source, externalId]);
  const before = books.balance.available;
  books.moveReferenced(kind, amount, reference);
  books.payDebt(reference);
  const balance = books.balance.available;
  draft.rows.topUps.set(id, { amount, kind, balanceAfter: balance });
  draft.changes.topUps.push({ ...topUp, balanceAfter: balance, txn: books.txn, atMs: books.atMs });
  draft.changes.auditLines.push({
    atMs: books.atMs,
    actor,
    action: `credits.${kind}`,
    organizationId,
    target: reference,
    before: printed(before),
    after: printed(balance),
  });
  return { kind: "credited", balance };
}

const printed = (available: NanoUsd): string => JSON.stringify({ available_usd: formatUsd(available) });
