// Runs acts in order of their time; each may add later ones.

type Act = () => Promise<void> | void;
interface Entry {
  atMs: number;
  /** Of two at the same instant, the one added first comes first. */
  order: number;
  act: Act;
}

/** A heap, which finds the earliest entry without sorting. */
export class Timeline {
  private readonly heap: Entry[] = [];
  private added = 0;

  add(atMs: number, act: Act): void {
    const { heap } = this;
    let at = heap.length;
    heap.push({ atMs, order: this.added++, act });
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.isBefore(at, parent)) break;
      this.swap(at, parent);
      at = parent;
    }
  }

  /** The next entry not later than `untilMs`; null if there is none. */
  next(untilMs: number): { atMs: number; act: Act } | null {
    const { heap } = this;
    const [first] = heap;
    if (first === undefined || first.atMs > untilMs) return null;
    const last = heap.pop();
    if (last !== undefined && heap.length > 0) {
      heap[0] = last;
      this.sink();
    }
    return first;
  }

  private sink(): void {
    for (let at = 0; ; ) {
      const [left, right] = [2 * at + 1, 2 * at + 2];
      let least = at;
      if (left < this.heap.length && this.isBefore(left, least)) least = left;
      if (right < this.heap.length && this.isBefore(right, least)) least = right;
      if (least === at) return;
      this.swap(at, least);
      at = least;
    }
  }

  private isBefore(a: number, b: number): boolean {
    const [one, other] = [this.heap[a], this.heap[b]];
    if (one === undefined || other === undefined) return false;
    return one.atMs < other.atMs || (one.atMs === other.atMs && one.order < other.order);
  }

  private swap(a: number, b: number): void {
    const { heap } = this;
    const [one, other] = [heap[a], heap[b]];
    if (one === undefined || other === undefined) return;
    heap[a] = other;
    heap[b] = one;
  }
}
