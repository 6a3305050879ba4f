// Credits: grants and purchases come in, the balance is shown (specification 1). A reference credits once; what would
// not fit a row of the ledger is refused before it is tried.
import type { Actor } from "../contract/actor.ts";
import type { BalanceJson, RefundJson } from "../contract/admin.ts";
import type { GrantCredits, RefundCredits } from "../contract/admin-input.ts";
import { OperatorRefusal } from "../contract/admin-refusals.ts";
import { addUsd, formatUsd, MAX_NANO_USD, type NanoUsd, ZERO_USD } from "../contract/money.ts";
import type { Operator } from "../contract/operator.ts";
import { Refusal } from "../contract/refusals.ts";
import type { BalanceRecord, Ledger } from "../ledger/ledger.ts";
import { randomBase62 } from "../lib/id.ts";
import { readUsd } from "./read.ts";
import { unknownRecord } from "./unknown-record.ts";

type Store = Pick<Ledger, "balance" | "topUp" | "reverse" | "request">;

export function credits(ledger: Store): Operator["credits"] {
  const show = async (org: string): Promise<BalanceRecord> => {
    const balance = await ledger.balance(org);
    if (balance === null) throw unknownRecord("organization", org, "org");
    return balance;
  };
  return {
    show: async (org) => printBalance(await show(org)),
    async grant(input, actor) {
      const amount = readUsd(input.usd, "usd");
      requireCreditable(amount, await show(input.org));
      const reference = input.reference ?? `op_${randomBase62(16)}`;
      const outcome = await ledger.topUp(topUpOf(input, { amount, reference }), actor);
      if (outcome.kind === "unknown_organization") throw unknownRecord("organization", input.org, "org");
      if (outcome.kind === "conflict") throw referenceTaken(reference);
      return {
        org: input.org,
        balance_usd: formatUsd(outcome.balance),
        reference,
        credited: outcome.kind === "credited",
      };
    },
    refund: (input, actor) => refund(ledger, input, actor),
  };
}

async function refund(ledger: Store, input: RefundCredits, actor: Actor): Promise<RefundJson> {
  const amount = readUsd(input.usd, "usd");
  if (amount === ZERO_USD) throw new Refusal("invalid_request", "usd must be above 0.", { param: "usd" });
  const request = await ledger.request(input.request);
  if (request === null) throw unknownRecord("request", input.request, "request");
  const reference = input.reference ?? `op_${randomBase62(16)}`;
  const { organizationId, requestId: target } = request;
  const outcome = await ledger.reverse(
    { organizationId, amount, kind: "refund", target, source: "operator", externalId: reference },
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
      throw new OperatorRefusal("conflict", `At most $${formatUsd(outcome.atMost)} can be refunded.`, "usd");
    case "conflict":
      throw referenceTaken(reference);
    case "unknown_request":
    case "unknown_organization":
      throw new OperatorRefusal("conflict", "Only a request that was settled can be refunded.", "request");
  }
}

const topUpOf = (input: GrantCredits, made: { amount: NanoUsd; reference: string }) => ({
  organizationId: input.org,
  amount: made.amount,
  kind: input.kind,
  source: "operator",
  externalId: made.reference,
});

function requireCreditable(amount: NanoUsd, balance: BalanceRecord): void {
  if (amount === ZERO_USD) throw new Refusal("invalid_request", "usd must be above 0.", { param: "usd" });
  const total = addUsd(addUsd(balance.purchased, balance.granted), amount);
  if (total <= MAX_NANO_USD) return;
  throw new Refusal("invalid_request", "usd is more than one organization can ever be credited.", {
    param: "usd",
  });
}

const referenceTaken = (reference: string): OperatorRefusal =>
  new OperatorRefusal(
    "conflict",
    `The reference ${JSON.stringify(reference)} was credited before with another amount or kind; nothing was credited. ` +
      "Use a new reference for a new payment.",
    "reference",
  );

const printBalance = (balance: BalanceRecord): BalanceJson => ({
  org: balance.organizationId,
  available_usd: formatUsd(balance.available),
  held_usd: formatUsd(balance.held),
  spent_usd: formatUsd(balance.spent),
  purchased_usd: formatUsd(balance.purchased),
  granted_usd: formatUsd(balance.granted),
  debt_usd: formatUsd(balance.debt),
  currency: "USD",
  paid_workspace: balance.paidWorkspace,
});
