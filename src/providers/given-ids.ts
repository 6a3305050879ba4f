// The ids of one answer's tool calls, as clients get them and send them back with the results: each id once.
import { randomBase62 } from "../lib/id.ts";

/** The maximum length of an upstream's id; a longer one is not used, and not kept. */
export const CALL_ID_CHARACTERS_MAX = 512;

/** The ids of one answer. */
export class GivenIds {
  private readonly given = new Set<string>();

  /** Returns the upstream's own id, or a new one of ours if that is missing, too long, or another call's. */
  give(told: unknown): string {
    const own =
      typeof told === "string" &&
      told !== "" &&
      told.length <= CALL_ID_CHARACTERS_MAX &&
      !this.given.has(told);
    const id = own ? told : `call_${randomBase62(24)}`;
    this.given.add(id);
    return id;
  }
}
