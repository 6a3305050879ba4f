// Parses the cursors of pages: only what an earlier page returned is accepted (hardening.md 142).
import { Refusal } from "../domain/refusals.ts";

const NUMBER = /^\d{1,15}$/;
const REQUEST = /^req_[0-9a-f]{32}$/;
const ORGANIZATION = /^org_\w{1,60}$/;
const PERSON = /^usr_\w{1,60}$/;
const ENTITLEMENT = /^ent_\w{1,60}$/;
const MANAGEMENT_KEY = /^mk_\w{1,60}$/;
const AUDIT_LINE = /^aud_[0-9a-f]{32}$/;

/** The match of the pattern. Throws `Refusal` for a cursor that no page returned. */
export function readCursor(cursor: string, pattern: RegExp): RegExpExecArray {
  const found = pattern.exec(cursor);
  if (found !== null) return found;
  throw new Refusal("invalid_request", "cursor must be the next_cursor of an earlier page.", {
    param: "cursor",
  });
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
export const requestCursor = wholeIfGiven(REQUEST);
export const organizationCursor = wholeIfGiven(ORGANIZATION);
export const personCursor = wholeIfGiven(PERSON);
export const entitlementCursor = wholeIfGiven(ENTITLEMENT);
export const managementKeyCursor = wholeIfGiven(MANAGEMENT_KEY);
export const auditCursor = whole(AUDIT_LINE);
