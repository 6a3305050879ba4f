// What the batches of this process have met before, so that the next one asks about it from the first. It saves a question and
// decides nothing: whatever is not remembered is asked about once its first answers show that it is needed.

/** At most; then it begins anew. */
const REMEMBERED = 10_000;

/** Bounded: full, it forgets all and begins anew. */
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
