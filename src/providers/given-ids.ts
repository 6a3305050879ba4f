// Ids of the tool calls of one answer, as clients get them and send them back with the results: each once.
import { randomBase62 } from "../lib/id.ts";

/** Of an id of an upstream's; a longer one is none, and is not kept. */
export const CALL_ID_CHARACTERS_MAX = 512;

/** Of one answer. */
export class GivenIds {
  private readonly given = new Set<string>();

  /** The upstream's own id, or one of ours where that is none, too long, or another call's. */
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
