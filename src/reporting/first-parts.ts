// The times to the first part of many requests, for their exact percentiles: counted by millisecond, so that a million
// requests are a few thousand numbers.

export class FirstParts {
  private readonly counts = new Map<number, number>();
  private total = 0;

  /** `times`: milliseconds as `joinedNumbers` returns them. */
  add(times: string | null): void {
    for (const text of times?.split(",") ?? []) {
      const ms = Number(text);
      this.counts.set(ms, (this.counts.get(ms) ?? 0) + 1);
      this.total += 1;
    }
  }

  /** The time that comes after this share of all times, in their order; the last one at most. Null without any. */
  at(share: number): number | null {
    let before = Math.min(this.total - 1, Math.floor(this.total * share));
    for (const [ms, count] of [...this.counts].toSorted(([a], [b]) => a - b)) {
      if (before < count) return ms;
      before -= count;
    }
    return null;
  }
}
