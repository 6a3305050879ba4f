// What earlier batches of this process have met, so that the next one asks for it in the first round. It saves a
// query and decides nothing: anything not remembered is asked for once the first answers show that it is needed.

/** The maximum number of ids, after which the set is cleared. */
const REMEMBERED = 10_000;

/** A bounded set: when full, it is cleared. */
export class Seen {
  private readonly ids = new Set<string>();

  has(id: string): boolean {
    return this.ids.has(id);
  }

  add(id: string): void {
    if (this.ids.size >= REMEMBERED) this.ids.clear();
    this.ids.add(id);
  }
}
