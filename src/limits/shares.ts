// What is bounded at several levels at once: so much of a key, so much of its organization, so much of all together. Whoever
// takes counts at each level until it is given back; in memory of this process.

export interface Share {
  /** Whose share it is: an id. */
  of: string;
  /** Null = no limit. */
  most: number | null;
}

export class Shares {
  private readonly taken = new Map<string, number>();

  /** How much is taken of this share now. */
  takenOf(id: string): number {
    return this.taken.get(id) ?? 0;
  }

  /** The first of these shares that so much more would pass; null when there is room in all of them. */
  passed<S extends Share>(shares: readonly S[], amount = 1): S | null {
    return shares.find(({ of, most }) => most !== null && this.takenOf(of) + amount > most) ?? null;
  }

  /** Takes so much of each, whether there is room or not; the returned function gives it back, once. */
  take(shares: readonly Share[], amount = 1): () => void {
    this.add(shares, amount);
    let held = true;
    return () => {
      if (held) this.add(shares, -amount);
      held = false;
    };
  }

  private add(shares: readonly Share[], amount: number): void {
    for (const { of } of shares) {
      const now = this.takenOf(of) + amount;
      if (now < 0) throw new Error(`more was given back of ${of} than was taken`);
      if (now === 0) this.taken.delete(of);
      else this.taken.set(of, now);
    }
  }
}
