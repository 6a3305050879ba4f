// Bounds how many requests begin in one turn of the event loop. Everything that a socket has sent is delivered at once: thousands
// of pipelined requests would be answered before anything else runs. Those beyond the bound wait for the next turns, in order of
// arrival. The parser below us closes a connection whose request waits while it sends another (hardening.md §1).

/** As many as one commit takes; a refusal takes 30 µs, a look at a key 100 µs. */
const AT_MOST = 256;

export class Turnstile {
  /** Requests in this turn so far. While it is below the bound nobody waits. */
  private through = 0;
  private waiting: (() => void)[] = [];

  /** Null: the request may go on at once. */
  pass(): Promise<void> | null {
    if (this.through === AT_MOST) return new Promise((resolve) => this.waiting.push(resolve));
    if (this.through === 0) setImmediate(this.turn);
    this.through += 1;
    return null;
  }

  private readonly turn = (): void => {
    const next = this.waiting.splice(0, AT_MOST);
    this.through = next.length;
    if (next.length > 0) setImmediate(this.turn);
    for (const goOn of next) goOn();
  };
}
