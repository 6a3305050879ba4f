// How many links for a new password were made for an account: each has its line in the audit log, whoever made it.
import { from, theRow } from "../store/query.ts";
import type { Sql } from "../store/sql.ts";

/** Links for the account `personId` made after `afterMs` (milliseconds of the epoch), those that nobody was mailed included. */
export async function resetLinksSince(sql: Sql, personId: string, afterMs: number): Promise<number> {
  // By the index of the lines that are of no organization: what operators did.
  const query = from
    .selectFrom("audit_log")
    .where("org_id", "is", null)
    .where("action", "=", "person.reset")
    .where("target", "=", personId)
    .where("at", ">", BigInt(afterMs))
    .select((eb) => eb.fn.countAll<bigint>().as("made"));
  return Number((await theRow(sql, query)).made);
}
