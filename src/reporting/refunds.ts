// Later refunds of a request's charge. Its record, its receipt and the usage keep the charge: a refund is a
// separate entry, so that none of them ever changes.
import { type NanoUsd, sumUsd } from "../domain/money.ts";
import { from, rowsOf } from "../store/query.ts";
import type { Sql } from "../store/sql.ts";
import type { Tables } from "../store/tables.ts";

export type Refund = Pick<Tables["reversal"], "at" | "amount" | "txn">;

/** In order. */
export const refundsOf = (sql: Sql, organizationId: string, requestId: string): Promise<Refund[]> =>
  rowsOf(
    sql,
    from
      .selectFrom("reversal")
      .select(["at", "amount", "txn"])
      .where((eb) => eb.and({ org_id: organizationId, target: requestId, kind: "refund" }))
      .orderBy("txn"),
  );

/** Their sum, in nano-USD. */
export const refundedOf = async (sql: Sql, organizationId: string, requestId: string): Promise<NanoUsd> =>
  sumUsd((await refundsOf(sql, organizationId, requestId)).map(({ amount }) => amount));
