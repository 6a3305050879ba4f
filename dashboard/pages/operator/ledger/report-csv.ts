// The report on the screen as a file: a line per invariant, then one per violation, then one per accepted violation.
import type { Answer } from "../../../api/routes.ts";
import { cell } from "../../../../src/domain/csv.ts";

type LedgerReport = Answer<"POST /operator/ledger/audit">;

const HEADER = ["invariant", "result", "rows_checked", "ms", "org", "request_id", "expected", "found"];

export function reportCsv({ checked, took_ms, violations, accepted }: LedgerReport): string {
  const broken = new Set(violations.map(({ invariant }) => invariant));
  const lines = [
    HEADER,
    ...Object.entries(checked).map(([invariant, rows]) => [
      invariant,
      broken.has(invariant) ? "broken" : "ok",
      rows,
      Math.round(took_ms[invariant] ?? 0),
      null,
      null,
      null,
      null,
    ]),
    ...violations.map((one) => lineOf(one, "violation")),
    ...accepted.map((one) => lineOf(one, "accepted")),
  ];
  return lines.map((line) => `${line.map(cell).join(",")}\r\n`).join("");
}

const lineOf = (
  { invariant, org, request_id, expected, found }: LedgerReport["violations"][number],
  result: string,
) => [invariant, result, null, null, org, request_id, expected, found];
