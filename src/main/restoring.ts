// A backup's copy and the store that it replaces, side by side.
import type { Database } from "bun:sqlite";
import { placesFrom } from "../store/sql.ts";

export interface Restoring {
  /** The backup's copy, about to become the store. */
  copy: Database;
  /** Opened read-only. */
  replaced: Database;
}

/** Adds the replaced store's audit lines about these targets that the copy does not have. */
export function addLines(
  on: Restoring,
  { targets, actions }: { targets: readonly string[]; actions: readonly string[] },
): void {
  if (targets.length === 0) return;
  const columns = sharedColumns(on, "audit_log").filter((name) => name !== "seq");
  const select = `SELECT ${["target", ...columns].join(", ")} FROM audit_log WHERE action IN (${placesFrom(1, actions)}) ORDER BY seq`;
  const about = new Set(targets);
  const linesIn = (database: Database): unknown[][] =>
    database
      .query(select)
      .values(...actions)
      .filter(([target]) => about.has(String(target)))
      .map(([, ...line]) => line);
  const had = new Set(linesIn(on.copy).map(asText));
  const add = on.copy.query(
    `INSERT INTO audit_log (${columns.join(", ")}) VALUES (${placesFrom(1, columns)})`,
  );
  for (const line of linesIn(on.replaced)) if (!had.has(asText(line))) add.run(...(line as string[]));
}

const asText = (line: readonly unknown[]): string => line.map(String).join("\n");

export const columnNames = (database: Database, table: string): string[] =>
  database
    .query("SELECT name FROM pragma_table_info(?1)")
    .values(table)
    .map(([name]) => String(name));

/** A backup may have an older schema than the store that it replaces. */
export const sharedColumns = ({ copy, replaced }: Restoring, table: string): string[] => {
  const known = columnNames(copy, table);
  return columnNames(replaced, table).filter((name) => known.includes(name));
};
