// Automatic top-up as a use-case: its terms, the charging of the saved card, the last try. Refusals are those
// of `payments.ts`.
import type { z } from "zod";
import type { AutoTopUpJson, autoTopUpInput, OrderJson } from "../api/shapes/billing.ts";
import type { Actor } from "../domain/actor.ts";
import type { AuditNote } from "../domain/audit-note.ts";
import { formatUsd } from "../domain/money.ts";
import { OperatorRefusal } from "../domain/operator-refusals.ts";
import { printTime } from "../domain/print.ts";
import { readUsd } from "../domain/read.ts";
import { changedMeanwhile, checkVersion, versionOf } from "../domain/row-version.ts";
import { unknownRecord } from "../domain/unknown-record.ts";
import { type AutoTopUpTerms, UNSET } from "../payments/auto-top-up-book.ts";
import { monthStartOf } from "../payments/auto-top-up.ts";
import { NANO_PER_CENT } from "../payments/order.ts";
import type { Payments } from "../payments/payments.ts";
import { actsBelow } from "../payments/top-up-brake.ts";
import { printOrder } from "./print-order.ts";
import { auditLine } from "../store/audit-log.ts";
import { wrongAmount } from "./wrong-amount.ts";

export interface AutomaticTopUpPorts {
  payments: Payments;
  note: (note: AuditNote) => Promise<void>;
  nowMs: () => number;
}

/** Amounts are decimal US dollars outside, nano-USD inside. */
export function automaticTopUp({ payments, note, nowMs }: AutomaticTopUpPorts) {
  const show = async (org: string): Promise<AutoTopUpJson> => {
    const [wish, card, spent, last] = await Promise.all([
      payments.automatic.find(org),
      payments.orders.method(org),
      payments.orders.automaticSince(org, monthStartOf(nowMs())),
      payments.orders.lastAutomatic(org),
    ]);
    const failed = wish?.lastFailure ?? null;
    return {
      ...printTerms(wish ?? UNSET),
      acts_below_usd: wish === null ? null : formatUsd(actsBelow(wish)),
      spent_this_month_usd: formatUsd(spent),
      card: card?.label ?? null,
      last_failure:
        failed === null
          ? null
          : {
              at: printTime(wish?.failedAtMs ?? nowMs()),
              reason: failed,
              order: last?.state === "failed" ? last.id : null,
            },
      version: versionOf("auto_top_up", wish ?? UNSET),
    };
  };
  return {
    autoTopUp: show,
    async setAutoTopUp(
      org: string,
      { version, ...input }: z.output<typeof autoTopUpInput>,
      actor: Actor,
    ): Promise<AutoTopUpJson> {
      const terms = readTerms(org, input, payments.limits);
      const before = await payments.automatic.find(org);
      checkVersion(version, versionOf("auto_top_up", before ?? UNSET));
      const line = {
        actor,
        action: "auto_top_up.set",
        organizationId: org,
        target: org,
        before: printTerms(before ?? UNSET),
        after: input,
      };
      if ((await payments.automatic.set(terms, before, [auditLine(line, nowMs())])) === null)
        throw (await payments.automatic.find(org)) === null
          ? unknownRecord("organization", org, "org")
          : changedMeanwhile();
      return show(org);
    },
    /** Tries now; returns the order of that try. */
    async retryAutoTopUp(org: string, actor: Actor): Promise<OrderJson> {
      const before = await payments.orders.lastAutomatic(org);
      await note({ actor, action: "auto_top_up.retry", organizationId: org, target: org });
      await payments.retryAutomatic(org, actor);
      const order = await payments.orders.lastAutomatic(org);
      if (order !== null && (order.id !== before?.id || order.state !== before.state))
        return printOrder(order);
      const reason = (await payments.automatic.find(org))?.lastFailure;
      throw new OperatorRefusal(
        "conflict",
        reason ?? "Nothing was charged: automatic top-up is off, or enough credits are available.",
      );
    },
    async removeCard(org: string, actor: Actor): Promise<void> {
      const line = { actor, action: "card.remove", organizationId: org, target: org };
      if (!(await payments.orders.forgetMethod(org, [auditLine(line, nowMs())])))
        throw new OperatorRefusal("not_found", "This organization has no saved card.");
    },
  };
}

/** Throws `Refusal` for a charge that the payment service would not accept, or that would not help. */
function readTerms(
  org: string,
  input: Omit<z.output<typeof autoTopUpInput>, "version">,
  { minimum, maximum }: Payments["limits"],
): AutoTopUpTerms {
  const [threshold, amount] = [
    readUsd(input.threshold_usd, "threshold_usd"),
    readUsd(input.amount_usd, "amount_usd"),
  ];
  const cap = input.monthly_cap_usd;
  const monthlyCap = cap === null ? null : readUsd(cap, "monthly_cap_usd");
  if (amount < minimum || amount > maximum || amount % NANO_PER_CENT !== 0n)
    throw wrongAmount(
      "amount_usd",
      `must be whole cents from $${formatUsd(minimum).slice(0, -7)} to $${formatUsd(maximum).slice(0, -7)}`,
    );
  if (input.on && amount < threshold)
    throw wrongAmount(
      "amount_usd",
      "must not be below threshold_usd: one charge would leave less than the threshold, and the next would follow immediately",
    );
  if (monthlyCap !== null && monthlyCap < amount)
    throw wrongAmount("monthly_cap_usd", "must not be below amount_usd");
  return { organizationId: org, enabled: input.on, threshold, amount, monthlyCap };
}

const printTerms = ({ enabled, threshold, amount, monthlyCap }: AutoTopUpTerms | typeof UNSET) => ({
  on: enabled,
  threshold_usd: threshold === null ? null : formatUsd(threshold),
  amount_usd: amount === null ? null : formatUsd(amount),
  monthly_cap_usd: monthlyCap === null ? null : formatUsd(monthlyCap),
});
