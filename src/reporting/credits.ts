// All credits and chargebacks, with the person responsible; and the refundable part of a request's charge.
import { PAGE_ROWS } from "../domain/page-rows.ts";
import { findOrganization } from "../registry/organizations.ts";
import { readRequest } from "../registry/requests.ts";
import type * as creditsShapes from "../api/shapes/credits.ts";
import type { z } from "zod";
import { formatUsd, nanoUsd } from "../domain/money.ts";
import { printTime } from "../domain/print.ts";
import { noHoldOf } from "../domain/unknown-record.ts";
import type { Reader } from "../ledger/ledger.ts";
import type { People } from "../people/people.ts";
import { from, rowsOf } from "../store/query.ts";
import type { Sql } from "../store/sql.ts";
import { topUpOf } from "./billing.ts";
import { type CreditTransaction, creditTransactionsPage } from "./credit-transactions.ts";
import { refundedOf } from "./refunds.ts";

interface CreditsPorts {
  sql: Sql;
  people: Pick<People, "persons">;
}

/**
 * An undefined `org` means all. The person responsible is read from the audit log; null if no line names
 * them.
 */
export async function creditsPage(
  on: CreditsPorts,
  { org, cursor, limit = PAGE_ROWS }: z.output<typeof creditsShapes.creditsQuery>,
): Promise<z.output<typeof creditsShapes.creditList>> {
  const { rows, nextCursor } = await creditTransactionsPage(on.sql, { organizationId: org, cursor, limit });
  const by = await grantersOf(on, rows);
  const data = rows.map((transaction) => ({
    ...topUpOf(transaction),
    org: transaction.org_id,
    org_name: transaction.name,
    by: by(transaction),
  }));
  return { data, next_cursor: nextCursor };
}

type By = z.output<typeof creditsShapes.creditList>["data"][number]["by"];

/** Who credited each, from its line in the audit log. */
async function grantersOf(
  { sql, people }: CreditsPorts,
  transactions: readonly CreditTransaction[],
): Promise<(transaction: CreditTransaction) => By> {
  const [first] = transactions;
  if (first === undefined) return () => null;
  const query = from
    .selectFrom("audit_log")
    .select(["org_id", "action", "target", "actor"])
    .where("org_id", "in", [...new Set(transactions.map((transaction) => transaction.org_id))])
    .where(
      "at",
      ">=",
      transactions.reduce((oldest, { at }) => (at < oldest ? at : oldest), first.at),
    )
    .where("action", "like", "credits.%");
  const actors = new Map(
    (await rowsOf(sql, query)).map(({ org_id, action, target, actor }) => {
      // For a reversal, the line first names what was reversed.
      const reference = target.slice(Math.max(0, target.indexOf('["')));
      return [`${org_id} ${action} ${reference}`, actor];
    }),
  );
  const actorOf = ({ org_id, kind, source, external_id }: CreditTransaction): string | undefined =>
    actors.get(`${org_id} credits.${kind} ${JSON.stringify([source, external_id])}`);
  const persons = await people.persons([
    ...new Set(transactions.flatMap((transaction) => actorOf(transaction) ?? [])),
  ]);
  const names = new Map(persons.map(({ id, name }) => [id, name]));
  return (transaction) => {
    const id = actorOf(transaction);
    return id === undefined ? null : { id, name: names.get(id) ?? null };
  };
}

/**
 * A request's charge, and how much of it can still be refunded. Throws `OperatorRefusal` if there is no such
 * request.
 */
export async function refundableOf(
  { sql, ledger }: { sql: Sql; ledger: Reader },
  id: string,
): Promise<z.output<typeof creditsShapes.refundable>> {
  const request = await readRequest(ledger, id);
  if (request === null) throw noHoldOf(id, "request");
  const { organizationId: org, charge, model, state, admittedAtMs } = request;
  const refunded = await refundedOf(sql, org, id);
  return {
    request: id,
    org,
    org_name: (await findOrganization(ledger, org))?.name ?? org,
    model,
    state,
    admitted_at: printTime(admittedAtMs),
    charge_usd: formatUsd(charge),
    refunded_usd: formatUsd(refunded),
    left_usd: formatUsd(nanoUsd(charge - refunded)),
  };
}
