// Compares the books of all organizations with what came in and went out: the sum that a verification and the
// ledger's page show, cheap enough to check now and then.
import { type NanoUsd, nanoUsd } from "../domain/money.ts";
import { sumColumn, sumOf } from "../store/exact-sum.ts";
import { type Sql } from "../store/sql.ts";

const SUM = (column: string, of: string, as: string): string => `SELECT ${sumColumn(column, as)} FROM ${of}`;

/**
 * Payments minus chargebacks, charges and balances; in one statement, so that traffic is seen at one moment.
 */
export async function readDrift(sql: Sql): Promise<NanoUsd> {
  const [row] = await sql.rows(
    `SELECT * FROM (${SUM("amount", "topup", "came")}) AS a,
      (${SUM("amount", "reversal WHERE kind = 'chargeback'", "went")}) AS b,
      (${SUM("available", "org_balance", "available")}) AS c, (${SUM("held", "org_balance", "held")}) AS d,
      (${SUM("debt", "org_balance", "debt")}) AS e, (${SUM("spent", "org_balance", "spent")}) AS f`,
  );
  const of = (name: string): bigint => sumOf(row, name);
  return nanoUsd(of("came") - of("went") - of("spent") - of("available") - of("held") + of("debt"));
}
