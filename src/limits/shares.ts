// Counters bounded at several levels together: per key, per organization, in total. What is taken counts at each level
// until it is returned. Kept in the memory of this process.

export interface Share {
  /** The id of the share's owner. */
  of: string;
  /** Null = no limit. */
  most: number | null;
}

/** Taken shares, to be returned. */
export class TakenShares {
  private held = true;

  constructor(
    private readonly from: Pick<Shares, "add">,
    private readonly shares: readonly Share[],
    private readonly amount: number,
  ) {}

  /** Gives them back. A second call does nothing. */
  done(): void {
    if (this.held) this.from.add(this.shares, -this.amount);
    this.held = false;
  }
}

/** Counts what each id and all together have taken. For the path of every request: allocates nothing. */
export class Counts {
  private readonly taken = new Map<string, number>();
  private sum = 0;

  of(id: string): number {
    return this.taken.get(id) ?? 0;
  }

  get together(): number {
    return this.sum;
  }

  /** Takes `amount` more; a negative amount returns some. */
  add(id: string, amount: number): void {
    const now = this.of(id) + amount;
    if (now < 0) throw new Error(`more of ${id} was returned than was taken`);
    if (now === 0) this.taken.delete(id);
    else this.taken.set(id, now);
    this.sum += amount;
  }
}

export class Shares {
  private readonly taken = new Map<string, number>();

  /** How much of this share is taken now. */
  takenOf(id: string): number {
    return this.taken.get(id) ?? 0;
  }

  /** Returns the first of these shares that `amount` more would exceed; null if all have room. */
  passed<S extends Share>(shares: readonly S[], amount = 1): S | null {
    for (const share of shares)
      if (share.most !== null && this.takenOf(share.of) + amount > share.most) return share;
    return null;
  }

  /** Takes `amount` of each share, whether or not there is room. */
  take(shares: readonly Share[], amount = 1): TakenShares {
    this.add(shares, amount);
    return new TakenShares(this, shares, amount);
  }

  /** Adds to each share; `TakenShares` returns some with a negative amount. */
  add(shares: readonly Share[], amount: number): void {
    for (const { of } of shares) {
      const now = this.takenOf(of) + amount;
      if (now < 0) throw new Error(`more of ${of} was returned than was taken`);
      if (now === 0) this.taken.delete(of);
      else this.taken.set(of, now);
    }
  }
}
