// Credits and chargebacks, newest first: top-ups and reversals of one organization or of all. Rows committed
// by one batch of the ledger share time and transaction, so the cursor of a page that ends among them counts
// how many were shown; the set never changes after its commit.
import type { NanoUsd } from "../domain/money.ts";
import { from, rowsOf, when } from "../store/query.ts";
import type { Sql } from "../store/sql.ts";
import { readCursor } from "./cursors.ts";

/** Time, organization and transaction of the last row, and how many rows of that transaction were shown. */
const CURSOR = /^(\d{1,15})\.(org_\w{1,60})\.(\d{1,15})\.(\d{1,9})$/;
const COLUMNS = ["org_id", "at", "amount", "source", "external_id", "balance_after", "txn"] as const;

/** A top-up or a reversal, with its organization's name. */
export interface CreditTransaction {
  org_id: string;
  name: string;
  kind: "purchase" | "grant" | "chargeback" | "refund";
  at: bigint;
  amount: NanoUsd;
  source: string;
  external_id: string;
  balance_after: NanoUsd;
  txn: bigint;
}

type Place = Pick<CreditTransaction, "at" | "org_id" | "txn">;

interface CreditTransactionsAsk {
  organizationId: string | undefined;
  cursor: string | undefined;
  limit: number;
}

/** An undefined `organizationId` means all. Throws `Refusal` for a cursor that no page returned. */
export async function creditTransactionsPage(
  sql: Sql,
  { organizationId, cursor, limit }: CreditTransactionsAsk,
): Promise<{ rows: CreditTransaction[]; nextCursor: string | null }> {
  const start = cursor === undefined ? null : startOf(cursor);
  const transactions = from
    .selectFrom("topup")
    .select((eb) => [...COLUMNS, eb.ref("kind").$castTo<CreditTransaction["kind"]>().as("kind")])
    .unionAll(
      from
        .selectFrom("reversal")
        .select((eb) => [...COLUMNS, eb.ref("kind").$castTo<CreditTransaction["kind"]>().as("kind")]),
    );
  const query = from
    .selectFrom(transactions.as("transactions"))
    .innerJoin("organization", "organization.org_id", "transactions.org_id")
    .selectAll("transactions")
    .select("organization.name")
    .where((eb) =>
      eb.and([
        ...when(organizationId, (id) => eb("transactions.org_id", "=", id)),
        // Starting with the first row of that transaction.
        ...when(start?.place, ({ at, org_id, txn }) =>
          eb.or([
            eb("transactions.at", "<", at),
            eb.and([
              eb("transactions.at", "=", at),
              eb.or([
                eb("transactions.org_id", ">", org_id),
                eb.and([eb("transactions.org_id", "=", org_id), eb("transactions.txn", "<=", txn)]),
              ]),
            ]),
          ]),
        ),
      ]),
    )
    .orderBy("transactions.at", "desc")
    .orderBy("transactions.org_id")
    .orderBy("transactions.txn", "desc")
    .orderBy("transactions.source")
    .orderBy("transactions.external_id")
    .orderBy("transactions.kind")
    .limit(limit + 1)
    .offset(start?.shown ?? 0);
  const found = await rowsOf(sql, query);
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  if (found.length <= limit || last === undefined) return { rows, nextCursor: null };
  const place: Place = last;
  const before = start !== null && isSame(start.place, place) ? start.shown : 0;
  const shown = before + rows.filter((row) => isSame(row, place)).length;
  return { rows, nextCursor: `${place.at}.${place.org_id}.${place.txn}.${shown}` };
}

function startOf(cursor: string): { place: Place; shown: number } {
  const [, at = "", org_id = "", txn = "", shown] = readCursor(cursor, CURSOR);
  return { place: { at: BigInt(at), org_id, txn: BigInt(txn) }, shown: Number(shown) };
}

const isSame = (a: Place, b: Place): boolean => a.at === b.at && a.org_id === b.org_id && a.txn === b.txn;
