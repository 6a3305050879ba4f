// What a request cost goes back, whole or in part, once per reference. The ledger decides how much is left of it.
import type { Desk } from "../../contract/desk.ts";
import { formatUsd, nanoUsd } from "../../contract/money.ts";
import type { Operator } from "../../contract/operator.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { moneyOf, type Sql } from "../../store/sql.ts";
import { unknownRecord } from "../unknown-record.ts";

interface RefundsPorts {
  sql: Sql;
  ledger: Pick<Ledger, "organization" | "request">;
  operator: Pick<Operator, "credits">;
  note: Desk["note"];
}

export const refunds = (on: RefundsPorts): Pick<Desk, "refund" | "refundable"> => ({
  async refundable(id) {
    const request = await on.ledger.request(id);
    if (request === null) throw unknownRecord("request", id, "request");
    const { organizationId: org, charge, model, state, admittedAtMs } = request;
    const [row] = await on.sql.rows(
      `SELECT COALESCE(sum(amount), 0) AS refunded FROM reversal
       WHERE org_id = ?1 AND target = ?2 AND kind = 'refund'`,
      org,
      id,
    );
    const refunded = moneyOf(row?.["refunded"] ?? 0);
    return {
      request: id,
      org,
      org_name: (await on.ledger.organization(org))?.name ?? org,
      model,
      state,
      admitted_at: new Date(admittedAtMs).toISOString(),
      charge_usd: formatUsd(charge),
      refunded_usd: formatUsd(refunded),
      left_usd: formatUsd(nanoUsd(charge - refunded)),
    };
  },
  async refund({ request, amount_usd, reference, reason }, actor) {
    const { org } = await this.refundable(request);
    const before = await on.operator.credits.show(org);
    const done = await on.operator.credits.refund({ request, usd: amount_usd, reference }, actor);
    if (done.refunded)
      await on.note({
        actor,
        action: "credits.reason",
        organizationId: org,
        target: reference,
        after: { reason },
      });
    const { refunded, balance_usd: after_usd } = done;
    return { org, request, reference, refunded, before_usd: before.available_usd, after_usd };
  },
});
