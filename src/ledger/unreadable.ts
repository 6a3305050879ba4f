// A stored record that cannot be read: it is named, so that whoever asks for it learns which one it
// is, and nobody else is affected (docs/decisions/0020-one-bad-record.md).
import type { AttemptRecord } from "./records.ts";
import { messageOf } from "../domain/error-message.ts";

/** Thrown for a record that exists but is damaged; the cause stays inside, for the log. */
export class UnreadableRecord extends Error {
  /** `what` describes the record, with its id but none of its contents. */
  constructor(
    readonly what: string,
    cause: unknown,
  ) {
    super(`${what} cannot be read: ${messageOf(cause)}`, { cause });
    this.name = "UnreadableRecord";
  }
}

/** Returns the result of `read`, or throws `UnreadableRecord` if it throws. */
export function readable<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof UnreadableRecord ? error : new UnreadableRecord(what, error);
  }
}

/** Parses the attempts of a request from its row; null if they are not a valid list. */
export function attemptsIn(printed: string): AttemptRecord[] | null {
  try {
    const attempts: unknown = JSON.parse(printed);
    return Array.isArray(attempts) && attempts.every(isAttempt) ? attempts : null;
  } catch {
    return null;
  }
}

const isAttempt = (one: unknown): one is AttemptRecord =>
  typeof one === "object" && one !== null && Array.isArray((one as Partial<AttemptRecord>).doubts ?? []);

/** For an organization that exists. */
export const missingBalance = (organizationId: string): UnreadableRecord =>
  new UnreadableRecord(`the balance of organization ${organizationId}`, "it is missing");

/** For a request that names the release: every frozen release is kept forever. */
export const missingRelease = (requestId: string): UnreadableRecord =>
  new UnreadableRecord(`the release of request ${requestId}`, "it is missing");
