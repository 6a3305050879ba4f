// Counts the password-reset links created for an account: each has a line in the audit log, whoever created it.
import { from, theRow } from "../store/query.ts";
import type { Sql } from "../store/sql.ts";

/**
 * The number of links for the account `personId` created after `afterMs` (milliseconds since the epoch),
 * including those never mailed.
 */
export async function resetLinksSince(sql: Sql, personId: string, afterMs: number): Promise<number> {
  // Uses the index of lines without an organization: actions of operators.
  const query = from
    .selectFrom("audit_log")
    .where("org_id", "is", null)
    .where("action", "=", "person.reset")
    .where("target", "=", personId)
    .where("at", ">", BigInt(afterMs))
    .select((eb) => eb.fn.countAll<bigint>().as("made"));
  return Number((await theRow(sql, query)).made);
}
