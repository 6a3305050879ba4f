// Reseals everything that the ledger keeps sealed under a new data key, as a query for the single
// transaction in which all of it changes (docs/decisions/0083-the-data-key-changes-in-one-commit.md).
import { ask, bytesOf, numberOf, type Query, type SqlRow, type SqlValue, textOf } from "../store/sql.ts";
import { type KeyChange, resealed } from "./answer-vault.ts";

export interface Resealed {
  resealed: number;
  /** Answers that the old key did not open: they stay as they are, as unreadable as before. */
  unreadable: number;
}

/** Called with the number done and the total, as it progresses. */
export type HowFar = (done: number, of: number) => void;

/** The most held in memory at a time: rows and, unless a single row is larger, bytes. */
const ROWS_AT_ONCE = 100;
const BYTES_AT_ONCE = 8 * 1024 * 1024;

/** A table, the columns that identify its rows, and a starting value of each before the first row. */
interface Sealed {
  table: "result" | "stream_chunk";
  key: readonly { column: string; type: string; first: SqlValue }[];
}

const OF_REQUEST = [
  { column: "org_id", type: "text", first: "" },
  { column: "request_id", type: "text", first: "" },
] as const;
const ANSWERS: Sealed = { table: "result", key: OF_REQUEST };
const CHUNKS: Sealed = {
  table: "stream_chunk",
  key: [...OF_REQUEST, { column: "seq", type: "bigint", first: -1 }],
};

/** Reseals stored answers, and the chunks of streams that were running when their gateway died. */
export function* resealAnswers(change: KeyChange, told: HowFar): Query<Resealed> {
  const answers = yield* resealTable(ANSWERS, change, told);
  const chunks = yield* resealTable(CHUNKS, change, () => {});
  return {
    resealed: answers.resealed + chunks.resealed,
    unreadable: answers.unreadable + chunks.unreadable,
  };
}

function* resealTable(sealed: Sealed, change: KeyChange, told: HowFar): Query<Resealed> {
  const { table, key } = sealed;
  const [{ rows: of } = { rows: 0 }] = yield* ask(`SELECT count(*) AS rows FROM ${table}`);
  const columns = key.map(({ column }) => column).join(", ");
  const after = key.map((_, n) => `?${n + 1}`).join(", ");
  const next = `SELECT ${columns}, length(sealed) AS bytes FROM ${table} WHERE (${columns}) > (${after})
    ORDER BY ${columns} LIMIT ${ROWS_AT_ONCE}`;
  const done = { resealed: 0, unreadable: 0 };
  for (let place: SqlValue[] = key.map(({ first }) => first); ; ) {
    const found = yield* ask(next, place);
    if (found.length === 0) return done;
    const last = fitting(found);
    const rows = yield* rowsUpTo(sealed, place, last);
    const anew = rows.flatMap((row) => resealedRow(row, change));
    if (anew.length > 0) yield* write(sealed, anew);
    done.resealed += anew.length;
    done.unreadable += rows.length - anew.length;
    place = key.map(({ column }) => last[column] as SqlValue);
    told(done.resealed + done.unreadable, numberOf(of));
  }
}

/** Returns the last row that fits in memory together with those before it. */
function fitting(found: readonly SqlRow[]): SqlRow {
  let bytes = 0;
  const beyond = found.findIndex((row) => (bytes += numberOf(row["bytes"])) > BYTES_AT_ONCE);
  return found[beyond === -1 ? found.length - 1 : Math.max(0, beyond - 1)] as SqlRow;
}

function* rowsUpTo({ table, key }: Sealed, after: readonly SqlValue[], last: SqlRow): Query<SqlRow[]> {
  const columns = key.map(({ column }) => column);
  const from = columns.map((_, n) => `?${n + 1}`).join(", ");
  const to = columns.map((_, n) => `?${n + 1 + columns.length}`).join(", ");
  const list = columns.join(", ");
  return yield* ask(
    `SELECT ${list}, sealed FROM ${table} WHERE (${list}) > (${from}) AND (${list}) <= (${to}) ORDER BY ${list}`,
    [...after, ...columns.map((column) => last[column] as SqlValue)],
  );
}

/** Returns an empty list if the old key does not open it. */
function resealedRow(row: SqlRow, change: KeyChange): SqlRow[] {
  try {
    const place = { organizationId: textOf(row["org_id"]), requestId: textOf(row["request_id"]) };
    const seq = row["seq"] === undefined ? null : numberOf(row["seq"]);
    return [{ ...row, sealed: resealed(change, { ...place, seq }, bytesOf(row["sealed"])) }];
  } catch {
    return [];
  }
}

function* write({ table, key }: Sealed, rows: readonly SqlRow[]): Query<void> {
  const columns = [...key.map(({ column }) => column), "sealed"];
  const text = (types: readonly string[]): string =>
    `WITH n (${columns.join(", ")}) AS (VALUES ${rows
      .map(
        (_, row) =>
          `(${types.map((type, n) => `CAST(?${row * types.length + n + 1} AS ${type})`).join(", ")})`,
      )
      .join(", ")})
     UPDATE ${table} SET sealed = n.sealed FROM n
     WHERE ${key.map(({ column }) => `${table}.${column} = n.${column}`).join(" AND ")}`;
  const types = key.map(({ type }) => type);
  yield* ask(
    { sqlite: text([...types, "blob"]), postgresql: text([...types, "bytea"]) },
    rows.flatMap((row) => columns.map((column) => row[column] as SqlValue)),
  );
}
