// The version of a row that several people may edit at once: a digest of what they can change about it, so that no store
// keeps it and every gateway says the same. A change names the version that it was made on; where the row has another one
// by then, it is refused. A row that was changed and changed back is the same again, and nothing of it is lost.
import { createHash } from "node:crypto";
import { OperatorRefusal } from "./operator-refusals.ts";

/** What people edit of each row, by the names of its record. */
const EDITED = {
  key: ["name", "limit", "dayLimit", "weekLimit", "allowedModels", "maxOutputTokens", "expiresAtMs"],
  organization: ["name"],
  settings: ["name", "requireTwoFactor"],
  member: ["role"],
  alert_rule: ["kind", "amount", "percent", "days", "keyId", "channels", "enabled"],
  auto_top_up: ["enabled", "threshold", "amount", "monthlyCap"],
  /** An operator's words and the organization's own: who sets one of them goes by the other. */
  rate_limits: [
    "requestsPerMinute",
    "tokensPerMinute",
    "concurrent",
    "ownRequestsPerMinute",
    "ownTokensPerMinute",
    "ownConcurrent",
  ],
} as const;

/** How many of them the last version knew: the others count where one of them is set, so that both versions say the same. */
const KNOWN: Partial<Record<keyof typeof EDITED, number>> = { key: 2 };

type EditedRow = keyof typeof EDITED;
type Value = string | number | bigint | boolean | null | readonly string[];
/** A record, as far as its version needs it. */
export type Edited<Row extends EditedRow> = Record<(typeof EDITED)[Row][number], Value>;

const LENGTH = 16;

/** 16 characters: the same for the same values, on every gateway and in every version of this program. */
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

/** A change that names no version is made on any. */
export const isStale = (named: string | undefined, present: string): boolean =>
  named !== undefined && named !== present;

/** Before a write that compares once more what was read here: it alone decides between two that come at once. */
export function checkVersion(named: string, present: string): void {
  if (isStale(named, present)) throw changedMeanwhile();
}

/** The row is no longer what the change was made on. Read again, the change may still hold. */
export const changedMeanwhile = (): OperatorRefusal =>
  new OperatorRefusal(
    "changed_meanwhile",
    "Someone else changed this after you read it, so your change was not made. Read it again, and if you still want your change, send it with the current version.",
    "version",
  );

/** The same for a call that names no version. */
export const changedAtOnce = (): OperatorRefusal =>
  new OperatorRefusal(
    "changed_meanwhile",
    "Someone else changed this at the same time, so your change was not made. Read it again, and if you still want your change, send it again.",
  );
