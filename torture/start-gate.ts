// Keeps starts of gateways and outages of their database apart: a gateway that finds no database rightly gives up,
// and a run would take that for an accident.

export class StartGate {
  private readonly starting = new Set<Promise<unknown>>();
  private opens: Promise<void> = Promise.resolve();

  async start(act: () => Promise<void>): Promise<void> {
    for (let seen: Promise<void> | null = null; seen !== this.opens; ) {
      seen = this.opens;
      await seen;
    }
    const mine = act();
    this.starting.add(mine);
    await mine.finally(() => this.starting.delete(mine));
  }

  /** Outages run one after another, each only after all current starts have ended. */
  async outage(act: () => Promise<void>): Promise<void> {
    const before = this.opens;
    const mine = Promise.withResolvers<void>();
    this.opens = before.then(() => mine.promise);
    await before;
    await Promise.allSettled(this.starting);
    try {
      await act();
    } finally {
      mine.resolve();
    }
  }
}
