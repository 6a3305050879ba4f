// Reproducible randomness: the same seed produces the same figures, so that two seeded stores differ only in
// time.

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

export class Chance {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  /** From 0 up to, but not including, 1 (mulberry32). */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** True with this probability. */
  of(share: number): boolean {
    return this.next() < share;
  }

  /** An integer, both ends included. */
  whole(from: number, to: number): number {
    return from + Math.floor(this.next() * (to - from + 1));
  }

  /** Half of the values are below `median`; few are far above it, as with lengths and waits. */
  around(median: number, spread: number): number {
    const normal = Math.sqrt(-2 * Math.log(1 - this.next())) * Math.cos(2 * Math.PI * this.next());
    return median * Math.exp(normal * spread);
  }

  /** One of the choices, with probabilities by weight. */
  weighted<T>(choices: readonly (readonly [T, number])[]): T {
    const sum = choices.reduce((total, [, weight]) => total + weight, 0);
    let left = this.next() * sum;
    for (const [choice, weight] of choices) {
      left -= weight;
      if (left < 0) return choice;
    }
    const [last] = choices.at(-1) ?? [];
    if (last === undefined) throw new Error("there is nothing to choose from");
    return last;
  }

  hex(length: number): string {
    return Array.from({ length }, () => this.whole(0, 15).toString(16)).join("");
  }

  base62(length: number): string {
    return Array.from({ length }, () => BASE62[this.whole(0, 61)]).join("");
  }

  /**
   * A request id as it would have been created then: a UUID of version 7, whose first digits are its time.
   */
  requestId(atMs: number): string {
    const variant = this.whole(8, 11).toString(16);
    return `req_${Math.floor(atMs).toString(16).padStart(12, "0")}7${this.hex(3)}${variant}${this.hex(15)}`;
  }
}
