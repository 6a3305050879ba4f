// A statement as lines of a table: opening, each movement, closing. Every amount is signed by its effect on
// the balance, so that the lines before the last add up to it.
import type { CsvTable } from "./csv.ts";
import type { StatementJson } from "./shapes/statement.ts";

interface StatementLine {
  line: "opening" | "movement" | "charge" | "closing" | "head";
  at?: string;
  kind?: string;
  model?: string;
  key?: string;
  key_name?: string;
  /** The number of requests, or of rows that the list leaves out. */
  count?: number;
  amount_usd?: string;
  reference?: string;
  entry?: number;
  hash?: string;
  /** The refunded request. */
  request?: string;
}

const negative = (usd: string): string => (/^-|^[0.]+$/.test(usd) ? usd.replace(/^-/, "") : `-${usd}`);

function statementLines(statement: StatementJson): StatementLine[] {
  const { movements, other_movements, charges, other_charges, head } = statement;
  return [
    { line: "opening", at: statement.from, amount_usd: statement.opening_usd },
    ...movements.map(({ at, kind, amount_usd, source, reference, request }) => ({
      line: "movement" as const,
      at,
      kind,
      amount_usd,
      reference: `${source}: ${reference}`,
      ...(request !== null && { request }),
    })),
    ...(other_movements === null
      ? []
      : [
          {
            line: "movement" as const,
            kind: "others",
            count: other_movements.rows,
            amount_usd: other_movements.amount_usd,
          },
        ]),
    ...charges.map(({ model, key, requests, charge_usd }) => ({
      line: "charge" as const,
      model,
      key: key.id,
      key_name: key.name,
      count: requests,
      amount_usd: negative(charge_usd),
    })),
    ...(other_charges === null
      ? []
      : [
          {
            line: "charge" as const,
            kind: "others",
            count: other_charges.rows,
            amount_usd: negative(other_charges.amount_usd),
          },
        ]),
    { line: "closing", at: statement.to, amount_usd: statement.closing_usd },
    ...(head === null ? [] : [{ line: "head" as const, entry: head.n, hash: head.hash }]),
  ];
}

/** The file name without its extension. */
export const statementName = ({ org, month }: Pick<StatementJson, "org" | "month">): string =>
  `statement-${org.id}-${month}`;

/** The same for a spreadsheet. */
export const statementTable = (statement: StatementJson): CsvTable<StatementLine> => ({
  name: statementName(statement),
  columns: {
    line: (row) => row.line,
    at: (row) => row.at ?? null,
    kind: (row) => row.kind ?? null,
    model: (row) => row.model ?? null,
    key: (row) => row.key ?? null,
    key_name: (row) => row.key_name ?? null,
    count: (row) => row.count ?? null,
    amount_usd: (row) => row.amount_usd ?? null,
    reference: (row) => row.reference ?? null,
    entry: (row) => row.entry ?? null,
    hash: (row) => row.hash ?? null,
    request: (row) => row.request ?? null,
  },
  page: () => Promise.resolve({ data: statementLines(statement), next_cursor: null }),
});
