// Runs a few jobs at a time, queues others, and refuses the rest once the queue is full. Each scrypt takes a tenth of a
// second and 16 MB, so a hundred simultaneous sign-ins must not take all of the gateway's processors (hardening.md
// S28).

export class ConcurrencyLimiter {
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
