// A stored record that cannot be read: named, so that whoever asks for it is told which one it is, and nobody else is
// told anything (docs/decisions/0020-one-bad-record.md).
import type { AttemptRecord } from "./records.ts";
import { messageOf } from "../domain/error-message.ts";

/** Thrown for a record that is there and damaged; the cause stays inside, for the log. */
export class UnreadableRecord extends Error {
  /** `what`: the record in words, with its id; nothing of what it holds. */
  constructor(
    readonly what: string,
    cause: unknown,
  ) {
    super(`${what} cannot be read: ${messageOf(cause)}`, { cause });
    this.name = "UnreadableRecord";
  }
}

/** The result of `read`, or `UnreadableRecord` where it throws. */
export function readable<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof UnreadableRecord ? error : new UnreadableRecord(what, error);
  }
}

/** The attempts of a request as its row has them; null where that is no list of them. */
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

/** Of an organization that is there. */
export const missingBalance = (organizationId: string): UnreadableRecord =>
  new UnreadableRecord(`the balance of organization ${organizationId}`, "it is not there");

/** Of a request that names it: every frozen release is kept for good. */
export const missingRelease = (requestId: string): UnreadableRecord =>
  new UnreadableRecord(`the release of request ${requestId}`, "it is not there");
