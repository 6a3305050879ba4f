// Parses the cursors of pages: only what an earlier page returned is accepted (hardening.md 142).
import { Refusal } from "../domain/refusals.ts";

const NUMBER = /^\d{1,15}$/;
const REQUEST = /^req_[0-9a-f]{32}$/;
const ORGANIZATION = /^org_\w{1,60}$/;
const AUDIT_LINE = /^aud_[0-9a-f]{32}$/;

/** The match of the pattern. Throws `Refusal` for a cursor that no page returned. */
export function readCursor(cursor: string, pattern: RegExp): RegExpExecArray {
  const found = pattern.exec(cursor);
  if (found !== null) return found;
  throw noCursor();
}

/** The refusal of a cursor that no page returned. */
export const noCursor = (): Refusal =>
  new Refusal("invalid_request", "cursor must be the next_cursor of an earlier page.", { param: "cursor" });

/**
 * The id of the row behind which a page begins; null for the first page. Any id of the list is accepted, also a
 * damaged one. Throws `Refusal` if the list has no such row: a page behind it would be empty, like the end.
 */
export async function rowCursor(
  cursor: string | undefined,
  isListed: (id: string) => Promise<boolean>,
): Promise<string | null> {
  if (cursor === undefined) return null;
  if (!(await isListed(cursor))) throw noCursor();
  return cursor;
}

const whole =
  (pattern: RegExp) =>
  (cursor: string): string =>
    readCursor(cursor, pattern)[0];
const wholeIfGiven =
  (pattern: RegExp) =>
  (cursor: string | undefined): string | undefined =>
    cursor === undefined ? undefined : readCursor(cursor, pattern)[0];

/** Throws `Refusal` if the cursor is not a number of an earlier page. */
export const numberedCursor = (cursor: string): number => Number(readCursor(cursor, NUMBER)[0]);
/** False for a damaged id, which no page may continue from. */
export const isRequestId = (text: string): boolean => REQUEST.test(text);
export const requestCursor = wholeIfGiven(REQUEST);
export const organizationCursor = wholeIfGiven(ORGANIZATION);
export const auditCursor = whole(AUDIT_LINE);
