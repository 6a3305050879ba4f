// Findings that an operator has accepted: an entry that was made on a damaged balance stays as it is, because entries are
// append-only and chained. The audit lists them apart, so that whatever nobody has accepted stands out
// (docs/decisions/0091-accepted-findings.md).
import { ask, orNull, type Query, type SqlRow, textOf } from "../../store/sql.ts";
import type { Violation } from "../records.ts";
import { CHAIN_FINDINGS } from "./chain.ts";
import { identityOf } from "./findings.ts";

/** Returns the findings that concern entries, the only ones that nothing can repair. */
export const inEntries = (violations: readonly Violation[]): Violation[] =>
  violations.filter(({ invariant }) => CHAIN_FINDINGS.has(invariant));

/** Returns the violations without repeated ones. */
export const distinct = (violations: readonly Violation[]): Violation[] => [
  ...new Map(violations.map((one) => [identityOf(one), one])).values(),
];

/** Returns what was accepted of every organization. */
export function* acceptedFindings(): Query<Violation[]> {
  const rows = yield* ask("SELECT org_id, accepted FROM stopped_organization WHERE accepted IS NOT NULL");
  return rows.flatMap(acceptedIn);
}

/** Returns what a row says was accepted of its organization: nothing if that cannot be read. */
export function acceptedIn(row: SqlRow): Violation[] {
  const organizationId = textOf(row["org_id"]);
  return inEntries(violationsIn(orNull(row["accepted"], textOf) ?? "[]")).filter(
    (one) => one.organizationId === organizationId,
  );
}

/** The members of every violation, as text or null. */
const PARTS = ["invariant", "organizationId", "requestId", "expected", "found"] as const;

const isViolation = (read: unknown): read is Violation =>
  typeof read === "object" &&
  read !== null &&
  PARTS.every((part) => {
    const value = (read as Record<string, unknown>)[part];
    return typeof value === "string" || (value === null && part.endsWith("Id"));
  });

/** Reads violations as the store keeps them, in JSON. Leaves out what cannot be read. */
export function violationsIn(printed: unknown): Violation[] {
  try {
    const read: unknown = JSON.parse(textOf(printed));
    return Array.isArray(read) ? read.filter(isViolation) : [];
  } catch {
    return [];
  }
}
