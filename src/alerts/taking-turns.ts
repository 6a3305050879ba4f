// Decides whose messages are next when places are few: the organization served longest ago. One with a
// message under way waits for its end, so that a hanging receiver delays only its own organization.

/** How many served organizations are remembered; a forgotten one has waited long. */
const REMEMBERED = 10_000;

export class TakingTurns {
  /** Number of messages under way, by organization. */
  private readonly underWay = new Map<string, number>();
  /** Served organizations, the latest last. */
  private readonly served = new Set<string>();
  private taken = 0;

  constructor(private readonly places: number) {}

  get free(): number {
    return this.places - this.taken;
  }

  /** The waiting organizations that come next: at most as many as there are places. */
  next(waiting: readonly string[]): string[] {
    const idle = waiting.filter((id) => !this.underWay.has(id));
    const order = new Map([...this.served].map((id, place) => [id, place]));
    return idle.toSorted((a, b) => (order.get(a) ?? -1) - (order.get(b) ?? -1)).slice(0, this.free);
  }

  /** Takes a place until `work` ends, successfully or not. */
  take(id: string, work: Promise<void>): Promise<void> {
    this.taken += 1;
    this.underWay.set(id, (this.underWay.get(id) ?? 0) + 1);
    this.serve(id);
    return work.finally(() => {
      this.taken -= 1;
      const left = (this.underWay.get(id) ?? 1) - 1;
      if (left === 0) this.underWay.delete(id);
      else this.underWay.set(id, left);
    });
  }

  private serve(id: string): void {
    this.served.delete(id);
    this.served.add(id);
    const [longestAgo] = this.served;
    if (this.served.size > REMEMBERED && longestAgo !== undefined) this.served.delete(longestAgo);
  }
}
