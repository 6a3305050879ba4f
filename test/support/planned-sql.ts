// The port to an SQLite database that also reports each statement's query plan.
import type { Database } from "bun:sqlite";
import type { Sql } from "../../src/store/sql.ts";
import { sqliteSql } from "../../src/store/sqlite-sql.ts";

/** `plans`: the plan steps of each statement so far. */
export function plannedSql(writer: Database): { sql: Sql; plans: string[][] } {
  const sql = sqliteSql({ writer });
  const plans: string[][] = [];
  const rows: Sql["rows"] = (text, ...values) => {
    const steps = writer.query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${text}`).all();
    plans.push(steps.map(({ detail }) => detail));
    return sql.rows(text, ...values);
  };
  return { sql: { ...sql, rows }, plans };
}
