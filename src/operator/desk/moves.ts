// Credits that came or went back, newest first: top-ups and reversals of one organization or of all. What one batch of
// the ledger commits shares its time and its transaction, so a page that ends among such rows says how many of them
// were shown; the set never changes after its commit.
import { numberOf, type Sql, type SqlRow, textOf } from "../../store/sql.ts";
import { Conditions } from "./conditions.ts";
import { readCursor } from "./cursors.ts";

/** Time, organization and transaction of the last row, and how many rows of that transaction were shown. */
const CURSOR = /^(\d{1,15})\.(org_\w{1,60})\.(\d{1,15})\.(\d{1,9})$/;
const COLUMNS = "org_id, at, kind, amount, source, external_id, balance_after, txn";

interface Place {
  at: number;
  org: string;
  txn: number;
}

interface MovesAsk {
  organizationId: string | undefined;
  cursor: string | undefined;
  limit: number;
}

export async function movesPage(
  sql: Sql,
  { organizationId, cursor, limit }: MovesAsk,
): Promise<{ rows: SqlRow[]; nextCursor: string | null }> {
  const start = cursor === undefined ? null : startOf(cursor);
  const conditions = new Conditions().and("moves.org_id = ?", organizationId);
  if (start !== null) conditions.also(fromThere(conditions, start.place));
  const end = `LIMIT ${conditions.bind(limit + 1)} OFFSET ${conditions.bind(start?.shown ?? 0)}`;
  const found = await sql.rows(
    `SELECT moves.*, organization.name FROM (
       SELECT ${COLUMNS} FROM topup UNION ALL SELECT ${COLUMNS} FROM reversal
     ) AS moves JOIN organization ON organization.org_id = moves.org_id ${conditions.where}
     ORDER BY moves.at DESC, moves.org_id, moves.txn DESC, source, external_id, kind ${end}`,
    ...conditions.values,
  );
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  if (found.length <= limit || last === undefined) return { rows, nextCursor: null };
  const place = placeOf(last);
  const before = start !== null && isSame(start.place, place) ? start.shown : 0;
  const shown = before + rows.filter((row) => isSame(placeOf(row), place)).length;
  return { rows, nextCursor: `${place.at}.${place.org}.${place.txn}.${shown}` };
}

function startOf(cursor: string): { place: Place; shown: number } {
  const [, at, org = "", txn, shown] = readCursor(cursor, CURSOR);
  return { place: { at: Number(at), org, txn: Number(txn) }, shown: Number(shown) };
}

/** From the first row of that place on. */
function fromThere(conditions: Conditions, place: Place): string {
  const [at, org, txn] = [conditions.bind(place.at), conditions.bind(place.org), conditions.bind(place.txn)];
  return `(moves.at < ${at} OR (moves.at = ${at}
    AND (moves.org_id > ${org} OR (moves.org_id = ${org} AND moves.txn <= ${txn}))))`;
}

const placeOf = (row: SqlRow): Place => ({
  at: numberOf(row["at"]),
  org: textOf(row["org_id"]),
  txn: numberOf(row["txn"]),
});

const isSame = (a: Place, b: Place): boolean => a.at === b.at && a.org === b.org && a.txn === b.txn;
