// Reads a whole table, or all of its rows that meet a condition: the library's own lists are limited.
import type { SignIn } from "./sign-in.ts";

/** In the form that the library takes. */
type Condition = { field: string; value: string } | { field: string; operator: "in"; value: string[] };

const AT_ONCE = 1_000;

/** Rows ordered by id, read page by page. */
export async function allRows<Row extends { id: string }>(
  records: Pick<SignIn["records"], "findMany">,
  { model, where = [] }: { model: string; where?: Condition[] },
): Promise<Row[]> {
  // PostgreSQL accepts no empty list.
  if (where.some(({ value }) => Array.isArray(value) && value.length === 0)) return [];
  const found: Row[] = [];
  for (;;) {
    const last = found.at(-1);
    const rows = await records.findMany<Row>({
      model,
      where: last === undefined ? where : [...where, { field: "id", operator: "gt", value: last.id }],
      sortBy: { field: "id", direction: "asc" },
      limit: AT_ONCE,
    });
    found.push(...rows);
    if (rows.length < AT_ONCE) return found;
  }
}
