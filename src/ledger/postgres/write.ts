// Writes what a batch decided: one statement per table over arrays, every money update conditional on what was
// read. All statements are sent together with the commit after them, so a statement that does not hit exactly
// its rows must fail by itself, which aborts the transaction before the commit is read (money.md §7, §11).
import { auditLine } from "../../store/audit-log.ts";
import { sent as inPostgres } from "../../store/postgres-sql.ts";
import type { Kind } from "../../store/tables.ts";
import { eachWrite } from "../batch-writes.ts";
import type { Write } from "../column-writes.ts";
import { WRITE } from "../columns.ts";
import type { Changes } from "../rows.ts";
import { type Question, questionAbout } from "./flight.ts";
import { byRows, type ByRows, parameterRows, namedStatement } from "./query.ts";

const TYPES: Readonly<Record<Kind, string>> = {
  text: "text",
  textOrNull: "text",
  oneOf: "text",
  oneOfOrNull: "text",
  whole: "bigint",
  wholeOrNull: "bigint",
  money: "bigint",
  moneyOrNull: "bigint",
  bytes: "bytea",
  flag: "boolean",
};

/** Fails with a division by zero unless the number of changed rows equals the parameter after the arrays. */
const exactly = (change: string, parameter: number): string =>
  `WITH changed AS (${change} RETURNING 1) SELECT 1 / (count(*) = $${parameter}::bigint)::int FROM changed`;

/** Returns a statement over rows `r`. */
function textOf({ parameters, statement: written, once }: Write<never>, count: "many" | "one"): string {
  const rows = parameterRows(
    count,
    "r",
    parameters.map(({ column, kind }) => [column, TYPES[kind]]),
  );
  if (written.kind !== "insert") {
    const from = written.kind === "update" ? "FROM" : "USING";
    const change = `${written.head} ${from} ${rows} WHERE ${written.where}`;
    return once ? exactly(change, parameters.length + 1) : change;
  }
  const { into, fixed, onConflict } = written;
  const names = [...parameters, ...fixed].map(({ column }) => column).join(", ");
  const selected = ["r.*", ...fixed.map(({ value }) => value)].join(", ");
  return `INSERT INTO ${into} AS had (${names}) SELECT ${selected} FROM ${rows} ${onConflict}`;
}

/** Keyed by the names of `WRITE`. */
export const WRITE_STATEMENTS: ReadonlyMap<string, ByRows> = new Map(
  Object.values(WRITE).map((write) => [write.name, byRows(write.name, (count) => textOf(write, count))]),
);

/** Returns the statements that write the changes, in order; empty for an empty change. */
export function writesOf(changes: Changes, dataKey: Uint8Array): Question[] {
  const writes: Question[] = [];
  eachWrite(changes, dataKey, ({ name, values, once, large }, rows) => {
    const prepared = WRITE_STATEMENTS.get(name);
    if (prepared === undefined) throw new Error(`${name} was not prepared`);
    const found = rows.map((row) => values(row));
    if (large) for (const row of found) writes.push(questionAbout(prepared, [row]));
    else writes.push(questionAbout(prepared, found, once ? [found.length] : []));
  });
  for (const line of changes.auditLines) {
    const { text, values } = inPostgres(auditLine(line, line.atMs));
    writes.push({ statement: namedStatement("", text), values });
  }
  return writes;
}

/** True if nothing that was decided needs to be written: such a batch needs no commit. */
export const isEmpty = (changes: Changes): boolean =>
  [
    changes.balances,
    changes.entries,
    changes.opened,
    changes.closed,
    changes.checkpoints,
    changes.auditLines,
  ].every(({ length }) => length === 0) && changes.keyMonths.size === 0;
