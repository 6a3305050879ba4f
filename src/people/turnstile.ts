// Lets a few through at a time and turns the rest away once the queue is long: scrypt takes a tenth of a second and
// 16 MB each, so a hundred sign-ins at once must not take the gateway's processors (hardening.md S28).

export class Turnstile {
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(
    private readonly abreast: number,
    private readonly queue: number,
    private readonly full: () => Error,
  ) {}

  async pass<T>(work: () => Promise<T>): Promise<T> {
    if (this.running >= this.abreast) {
      if (this.waiting.length >= this.queue) throw this.full();
      await new Promise<void>((resolve) => this.waiting.push(resolve));
    } else this.running++;
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      if (next === undefined) this.running--;
      else next();
    }
  }
}

/** At most `most` tries per address within a window; what is old is forgotten. */
export class Throttle {
  private readonly tries = new Map<string, { count: number; untilMs: number }>();

  constructor(
    private readonly most: number,
    private readonly windowMs: number,
  ) {}

  /** Milliseconds to wait, or 0 when this try may go on. */
  wait(address: string, nowMs: number): number {
    const found = this.tries.get(address);
    if (found === undefined || found.untilMs <= nowMs) {
      if (this.tries.size > 10_000) this.forget(nowMs);
      this.tries.set(address, { count: 1, untilMs: nowMs + this.windowMs });
      return 0;
    }
    found.count++;
    return found.count > this.most ? found.untilMs - nowMs : 0;
  }

  private forget(nowMs: number): void {
    for (const [address, { untilMs }] of this.tries) if (untilMs <= nowMs) this.tries.delete(address);
    if (this.tries.size > 10_000) this.tries.clear();
  }
}
