// Money in: a purchase or a grant, credited once per (source, external id), however often it is reported
// (money.md §5). It pays open debt at once; a purchase makes the organization a paid workspace.
import type { Actor } from "../../domain/actor.ts";
import { type NanoUsd, formatUsd } from "../../domain/money.ts";
import type { BatchState } from "../commit/batch-state.ts";
import type { Ledger, TopUpOutcome } from "../ledger.ts";
import { rowId } from "../rows.ts";
import { tellReason } from "./reason.ts";

export type TopUp = Parameters<Ledger["topUp"]>[0];

/** Credits once, debt first. Throws for an amount that is not above zero. */
export function decideTopUp(batch: BatchState, topUp: TopUp, actor: Actor): TopUpOutcome {
  const { organizationId, amount, kind, source, externalId } = topUp;
  const postings = batch.postingsOf(organizationId);
  if (postings === null) return { kind: "unknown_organization" };
  const id = rowId(organizationId, source, externalId);
  const earlier = batch.rows.topUps.get(id);
  if (earlier !== undefined) {
    const same = earlier.amount === amount && earlier.kind === kind;
    return same ? { kind: "repeated", balance: earlier.balanceAfter } : { kind: "conflict" };
  }
  if (amount <= 0n) throw new Error(`a top-up of ${amount} nano-USD`);
  const reference = JSON.stringify([source, externalId]);
  const before = postings.balance.available;
  postings.moveReferenced(kind, amount, reference);
  postings.payDebt(reference);
  const balance = postings.balance.available;
  batch.rows.topUps.set(id, { amount, kind, balanceAfter: balance });
  batch.changes.topUps.push({ ...topUp, balanceAfter: balance, txn: postings.txn, atMs: postings.atMs });
  batch.changes.auditLines.push({
    atMs: postings.atMs,
    actor,
    action: `credits.${kind}`,
    organizationId,
    target: reference,
    before: printed(before),
    after: printed(balance),
  });
  tellReason(batch, { ...topUp, atMs: postings.atMs }, actor);
  return { kind: "credited", balance };
}

const printed = (available: NanoUsd): { available_usd: string } => ({ available_usd: formatUsd(available) });
