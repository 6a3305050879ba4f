// The version of a row that several people may edit at once: a digest of its editable fields, so that no store keeps it and every
// gateway computes the same. A change names the version that it is based on and is refused if the row has another one by then. A
// row that was changed and changed back has its old version again, and nothing is lost.
import { createHash } from "node:crypto";
import { OperatorRefusal } from "./operator-refusals.ts";

/** The editable fields of each row, by the names in its record. */
const EDITED = {
  key: ["name", "limit", "dayLimit", "weekLimit", "allowedModels", "maxOutputTokens", "expiresAtMs"],
  organization: ["name"],
  settings: ["name", "requireTwoFactor"],
  member: ["role"],
  alert_rule: ["kind", "amount", "percent", "days", "keyId", "channels", "enabled"],
  auto_top_up: ["enabled", "threshold", "amount", "monthlyCap"],
  /** Both an operator's limits and the organization's own: a change to either is based on the other. */
  rate_limits: [
    "requestsPerMinute",
    "tokensPerMinute",
    "concurrent",
    "ownRequestsPerMinute",
    "ownTokensPerMinute",
    "ownConcurrent",
  ],
} as const;

/**
 * How many fields the previous program version knew. The others count only if one of them is set, so that both program versions
 * agree.
 */
const KNOWN: Partial<Record<keyof typeof EDITED, number>> = { key: 2 };

type EditedRow = keyof typeof EDITED;
type Value = string | number | bigint | boolean | null | readonly string[];
/** The fields of a record that its version needs. */
export type Edited<Row extends EditedRow> = Record<(typeof EDITED)[Row][number], Value>;

const LENGTH = 16;

/** 16 characters; the same for the same values, on every gateway and in every version of this program. */
export function versionOf<Row extends EditedRow>(row: Row, record: Edited<Row>): string {
  const fields: readonly (keyof Edited<Row>)[] = EDITED[row];
  const all = fields.map((field) => record[field] as Value);
  const known = KNOWN[row] ?? all.length;
  const values = all.slice(known).every((value) => value === null) ? all.slice(0, known) : all;
  const text = JSON.stringify([
    row,
    ...values.map((value) => (typeof value === "bigint" ? `${value}` : value)),
  ]);
  return createHash("sha256").update(text).digest("base64url").slice(0, LENGTH);
}

/** Never true for a change that names no version. */
export const isStale = (named: string | undefined, present: string): boolean =>
  named !== undefined && named !== present;

/** A first check, before a write that compares again. Only that write decides between two concurrent changes. */
export function checkVersion(named: string, present: string): void {
  if (isStale(named, present)) throw changedMeanwhile();
}

/** The change may still apply once the row is read again. */
export const changedMeanwhile = (): OperatorRefusal =>
  new OperatorRefusal(
    "changed_meanwhile",
    "Someone else changed this after you read it, so nothing was changed. Read it again, and send its current version if your change still applies.",
    "version",
  );

/** The same for a call that names no version. */
export const changedConcurrently = (): OperatorRefusal =>
  new OperatorRefusal(
    "changed_meanwhile",
    "Someone else changed this at the same time, so nothing was changed. Read it again, and repeat your change if it still applies.",
  );
