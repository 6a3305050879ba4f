// Credits that came or went back, newest first: top-ups and reversals of one organization or of all. What one batch of
// the ledger commits shares its time and its transaction, so a page that ends among such rows says how many of them
// were shown; the set never changes after its commit.
import type { NanoUsd } from "../domain/money.ts";
import { from, rowsOf, when } from "../store/query.ts";
import type { Sql } from "../store/sql.ts";
import { readCursor } from "./cursors.ts";

/** Time, organization and transaction of the last row, and how many rows of that transaction were shown. */
const CURSOR = /^(\d{1,15})\.(org_\w{1,60})\.(\d{1,15})\.(\d{1,9})$/;
const COLUMNS = ["org_id", "at", "amount", "source", "external_id", "balance_after", "txn"] as const;

/** A top-up or a reversal, with its organization's name. */
export interface Move {
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

type Place = Pick<Move, "at" | "org_id" | "txn">;

interface MovesAsk {
  organizationId: string | undefined;
  cursor: string | undefined;
  limit: number;
}

export async function movesPage(
  sql: Sql,
  { organizationId, cursor, limit }: MovesAsk,
): Promise<{ rows: Move[]; nextCursor: string | null }> {
  const start = cursor === undefined ? null : startOf(cursor);
  const moves = from
    .selectFrom("topup")
    .select((eb) => [...COLUMNS, eb.ref("kind").$castTo<Move["kind"]>().as("kind")])
    .unionAll(
      from
        .selectFrom("reversal")
        .select((eb) => [...COLUMNS, eb.ref("kind").$castTo<Move["kind"]>().as("kind")]),
    );
  const query = from
    .selectFrom(moves.as("moves"))
    .innerJoin("organization", "organization.org_id", "moves.org_id")
    .selectAll("moves")
    .select("organization.name")
    .where((eb) =>
      eb.and([
        ...when(organizationId, (id) => eb("moves.org_id", "=", id)),
        // From the first row of that place on.
        ...when(start?.place, ({ at, org_id, txn }) =>
          eb.or([
            eb("moves.at", "<", at),
            eb.and([
              eb("moves.at", "=", at),
              eb.or([
                eb("moves.org_id", ">", org_id),
                eb.and([eb("moves.org_id", "=", org_id), eb("moves.txn", "<=", txn)]),
              ]),
            ]),
          ]),
        ),
      ]),
    )
    .orderBy("moves.at", "desc")
    .orderBy("moves.org_id")
    .orderBy("moves.txn", "desc")
    .orderBy("moves.source")
    .orderBy("moves.external_id")
    .orderBy("moves.kind")
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
