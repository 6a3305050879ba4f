// Credits: grants, purchases and the balance (specification 1). A reference credits once; amounts that do not
// fit a row of the ledger are refused before anything is tried.
import type { Actor } from "../domain/actor.ts";
import type { BalanceJson, GrantJson, RefundJson } from "../api/shapes/records.ts";
import type { GrantCredits, RefundCredits } from "../api/shapes/record-inputs.ts";
import { OperatorRefusal } from "../domain/operator-refusals.ts";
import { addUsd, formatUsd, MAX_NANO_USD, type NanoUsd, ZERO_USD } from "../domain/money.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { BalanceRecord } from "../ledger/records.ts";
import { randomBase62 } from "../lib/id.ts";
import { readUsd } from "../domain/read.ts";
import { noHoldOf, unknownRecord } from "../domain/unknown-record.ts";
import { printBalance } from "../reporting/balance.ts";
import { readRequest } from "../registry/requests.ts";
import { wrongAmount } from "./wrong-amount.ts";

/** The input field with the amount, which a refusal names. */
type AmountField = "usd" | "amount_usd";
interface Worded {
  field?: AmountField;
  /** Stored with the audit line of the credits. */
  reason?: string;
}
type Store = Pick<Ledger, "balance" | "read" | "reverse" | "topUp">;

/**
 * Amounts are decimal US dollars in input and output. Throws `OperatorRefusal` for an amount that cannot be
 * credited or refunded.
 */
export function credits(ledger: Store) {
  const show = async (org: string): Promise<BalanceRecord> => {
    const balance = await ledger.balance(org);
    if (balance === null) throw unknownRecord("organization", org, "org");
    return balance;
  };
  return {
    show: async (org: string): Promise<BalanceJson> => printBalance(await show(org)),
    /** The same reference with the same amount credits once; with another amount it is a conflict. */
    async grant(
      input: GrantCredits,
      actor: Actor,
      { field = "usd", reason }: Worded = {},
    ): Promise<GrantJson> {
      const amount = readUsd(input.usd, field);
      requireCreditable(amount, await show(input.org), field);
      const reference = input.reference ?? `op_${randomBase62(16)}`;
      const outcome = await ledger.topUp({ ...topUpOf(input, { amount, reference }), reason }, actor);
      if (outcome.kind === "unknown_organization") throw unknownRecord("organization", input.org, "org");
      if (outcome.kind === "conflict") throw referenceTaken(reference);
      return {
        org: input.org,
        balance_usd: formatUsd(outcome.balance),
        reference,
        credited: outcome.kind === "credited",
      };
    },
    /** Returns the charge of a settled request, or part of it; each reference once. */
    refund: (input: RefundCredits, actor: Actor, { field = "usd", reason }: Worded = {}) =>
      refund(ledger, input, { actor, field, reason }),
  };
}

async function refund(
  ledger: Store,
  input: RefundCredits,
  { actor, field, reason }: { actor: Actor; field: AmountField; reason: string | undefined },
): Promise<RefundJson> {
  const amount = readUsd(input.usd, field);
  if (amount === ZERO_USD) throw wrongAmount(field, "must be above 0");
  const request = await readRequest(ledger, input.request);
  if (request === null) throw noHoldOf(input.request, "request");
  const reference = input.reference ?? `op_${randomBase62(16)}`;
  const { organizationId, requestId: target } = request;
  const outcome = await ledger.reverse(
    { organizationId, amount, kind: "refund", target, source: "operator", externalId: reference, reason },
    actor,
  );
  switch (outcome.kind) {
    case "reversed":
    case "repeated":
      return {
        org: organizationId,
        request: target,
        balance_usd: formatUsd(outcome.balance),
        reference,
        refunded: outcome.kind === "reversed",
      };
    case "exceeds":
      throw new OperatorRefusal("conflict", `At most $${formatUsd(outcome.atMost)} can be refunded.`, field);
    case "conflict":
      throw referenceTaken(reference);
    case "unknown_request":
    case "unknown_organization":
      throw new OperatorRefusal("conflict", "Only a settled request can be refunded.", "request");
  }
}

const topUpOf = (input: GrantCredits, made: { amount: NanoUsd; reference: string }) => ({
  organizationId: input.org,
  amount: made.amount,
  kind: input.kind,
  source: "operator",
  externalId: made.reference,
});

function requireCreditable(amount: NanoUsd, balance: BalanceRecord, field: AmountField): void {
  if (amount === ZERO_USD) throw wrongAmount(field, "must be above 0");
  const total = addUsd(addUsd(balance.purchased, balance.granted), amount);
  if (total > MAX_NANO_USD) throw wrongAmount(field, "is more than an organization can be credited");
}

const referenceTaken = (reference: string): OperatorRefusal =>
  new OperatorRefusal(
    "conflict",
    `The reference ${JSON.stringify(reference)} was already credited with another amount or kind; nothing was credited now. ` +
      "Use a new reference for a new payment.",
    "reference",
  );
