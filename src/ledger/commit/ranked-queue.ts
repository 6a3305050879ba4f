// What waits for the next batch: a line for each rank, the lower ones first; within a rank the order of arrival holds.

/** Ranks from 0; `rank` is of the thing that waits and never changes. */
export class RankedQueue<T> {
  private readonly lines: T[][] = [[], [], []];

  constructor(private readonly rank: (one: T) => 0 | 1 | 2) {}

  /** How many wait. */
  get length(): number {
    let sum = 0;
    for (const line of this.lines) sum += line.length;
    return sum;
  }

  /** To the end of its line. */
  push(one: T): void {
    this.lines[this.rank(one)]?.push(one);
  }

  /** The first of them, rank by rank; they wait no longer. */
  take(atMost: number): T[] {
    const taken: T[] = [];
    for (const line of this.lines) taken.push(...line.splice(0, atMost - taken.length));
    return taken;
  }

  /** To the front again, each in its line, in the order in which they were taken. */
  putBack(taken: readonly T[]): void {
    for (const one of taken.toReversed()) this.lines[this.rank(one)]?.unshift(one);
  }
}
