// Work that must not come in numbers: of one place it runs one after the other, and those who ask take turns, so that nobody
// who asks for much keeps another one waiting for more than one piece of it. Work of different places does not wait.

export interface Asked {
  place: string;
  /** Who asks. */
  by: string;
}

export class OneByOne {
  /** By place, who waits there and for what, in the order of their turns. Present while anything runs there. */
  private readonly waiting = new Map<string, Map<string, (() => void)[]>>();

  /** What `work` comes to, once its turn has come. */
  async run<T>({ place, by }: Asked, work: () => Promise<T>): Promise<T> {
    const others = this.waiting.get(place);
    if (others === undefined) this.waiting.set(place, new Map());
    else await this.turn(others, by);
    try {
      return await work();
    } finally {
      this.next(place);
    }
  }

  private turn(others: Map<string, (() => void)[]>, by: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const own = others.get(by);
    if (own === undefined) others.set(by, [resolve]);
    else own.push(resolve);
    return promise;
  }

  /** Whose turn it was goes behind the others. */
  private next(place: string): void {
    const others = this.waiting.get(place);
    for (const [by, own] of others ?? []) {
      const begin = own.shift();
      others?.delete(by);
      if (own.length > 0) others?.set(by, own);
      begin?.();
      return;
    }
    this.waiting.delete(place);
  }
}
