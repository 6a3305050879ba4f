// What is bounded at several levels at once: so much of a key, so much of its organization, so much of all together. Whoever
// takes counts at each level until it is given back; in memory of this process.

export interface Share {
  /** Whose share it is: an id. */
  of: string;
  /** Null = no limit. */
  most: number | null;
}

/** What was taken, until it is given back. */
export class TakenShares {
  private held = true;

  constructor(
    private readonly from: Pick<Shares, "add">,
    private readonly shares: readonly Share[],
    private readonly amount: number,
  ) {}

  /** Gives it back; a second time does nothing. */
  done(): void {
    if (this.held) this.from.add(this.shares, -this.amount);
    this.held = false;
  }
}

/** What is taken of each id and of all together, for what every request takes: counted, nothing made. */
export class Counts {
  private readonly taken = new Map<string, number>();
  private sum = 0;

  of(id: string): number {
    return this.taken.get(id) ?? 0;
  }

  get together(): number {
    return this.sum;
  }

  /** Takes so much more; less than nothing gives it back. */
  add(id: string, amount: number): void {
    const now = this.of(id) + amount;
    if (now < 0) throw new Error(`more was given back of ${id} than was taken`);
    if (now === 0) this.taken.delete(id);
    else this.taken.set(id, now);
    this.sum += amount;
  }
}

export class Shares {
  private readonly taken = new Map<string, number>();

  /** How much is taken of this share now. */
  takenOf(id: string): number {
    return this.taken.get(id) ?? 0;
  }

  /** The first of these shares that so much more would pass; null when there is room in all of them. */
  passed<S extends Share>(shares: readonly S[], amount = 1): S | null {
    for (const share of shares)
      if (share.most !== null && this.takenOf(share.of) + amount > share.most) return share;
    return null;
  }

  /** Takes so much of each, whether there is room or not. */
  take(shares: readonly Share[], amount = 1): TakenShares {
    this.add(shares, amount);
    return new TakenShares(this, shares, amount);
  }

  /** Gives back what was taken: `TakenShares` does. */
  add(shares: readonly Share[], amount: number): void {
    for (const { of } of shares) {
      const now = this.takenOf(of) + amount;
      if (now < 0) throw new Error(`more was given back of ${of} than was taken`);
      if (now === 0) this.taken.delete(of);
      else this.taken.set(of, now);
    }
  }
}
