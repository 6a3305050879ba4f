// Credits granted by an operator, and refunds of a request's charge, in whole or in part: once per reference,
// each with its reason in the audit log. The ledger decides how much is left.
import type { z } from "zod";
import type * as creditsShapes from "../api/shapes/credits.ts";
import type { Actor } from "../domain/actor.ts";
import type { Reader } from "../ledger/ledger.ts";
import { refundableOf } from "../reporting/credits.ts";
import type { Operator } from "./operator.ts";
import type { Sql } from "../store/sql.ts";

interface ReasonedCreditsPorts {
  sql: Sql;
  ledger: Reader;
  operator: Pick<Operator, "credits">;
}

export const reasonedCredits = (on: ReasonedCreditsPorts) => ({
  async grant(
    { org, amount_usd, kind, reference, reason }: z.output<typeof creditsShapes.grantInput>,
    actor: Actor,
  ): Promise<z.output<typeof creditsShapes.granted>> {
    const { credits } = on.operator;
    const before = await credits.show(org);
    const given = { org, usd: amount_usd, kind, reference };
    const granted = await credits.grant(given, actor, { field: "amount_usd", reason });
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
    const given = { request, usd: amount_usd, reference };
    const done = await credits.refund(given, actor, { field: "amount_usd", reason });
    const { refunded, balance_usd: after_usd } = done;
    return { org, request, reference, refunded, before_usd: before.available_usd, after_usd };
  },
});
