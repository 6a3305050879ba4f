// Credits that an operator gives, and what a request cost going back, whole or in part: once per reference, each with its
// reason in the audit log. The ledger decides how much is left.
import type { z } from "zod";
import type * as creditsShapes from "../api/shapes/credits.ts";
import type { Actor } from "../domain/actor.ts";
import type { AuditNote } from "../domain/audit-note.ts";
import type { Reader } from "../ledger/ledger.ts";
import { refundableOf } from "../reporting/credits.ts";
import type { Operator } from "./operator.ts";
import type { Sql } from "../store/sql.ts";

interface ReasonedCreditsPorts {
  sql: Sql;
  ledger: Reader;
  operator: Pick<Operator, "credits">;
  note: (note: AuditNote) => Promise<void>;
}

export const reasonedCredits = (on: ReasonedCreditsPorts) => ({
  async grant(
    { org, amount_usd, kind, reference, reason }: z.output<typeof creditsShapes.grantInput>,
    actor: Actor,
  ): Promise<z.output<typeof creditsShapes.granted>> {
    const { credits } = on.operator;
    const before = await credits.show(org);
    const granted = await credits.grant({ org, usd: amount_usd, kind, reference }, actor, "amount_usd");
    if (granted.credited) await noteReason(on, { org, reference, reason }, actor);
    return {
      org,
      reference: granted.reference,
      credited: granted.credited,
      before_usd: before.available_usd,
      after_usd: granted.balance_usd,
    };
  },
  async refund(
    { request, amount_usd, reference, reason }: z.output<typeof creditsShapes.refundInput>,
    actor: Actor,
  ): Promise<z.output<typeof creditsShapes.refunded>> {
    const { org } = await refundableOf(on, request);
    const { credits } = on.operator;
    const before = await credits.show(org);
    const done = await credits.refund({ request, usd: amount_usd, reference }, actor, "amount_usd");
    if (done.refunded) await noteReason(on, { org, reference, reason }, actor);
    const { refunded, balance_usd: after_usd } = done;
    return { org, request, reference, refunded, before_usd: before.available_usd, after_usd };
  },
});

/** Why credits moved, beside their own line of the audit log. */
const noteReason = (
  { note }: Pick<ReasonedCreditsPorts, "note">,
  { org, reference, reason }: { org: string; reference: string; reason: string },
  actor: Actor,
): Promise<void> =>
  note({ actor, action: "credits.reason", organizationId: org, target: reference, after: { reason } });
