// A priority queue of numbers, lowest first: a binary heap that can be filled and emptied repeatedly without garbage.

export class LowestFirst {
  private keys = new Float64Array(4096);
  private size = 0;

  /** Empties and returns this queue. */
  cleared(): this {
    this.size = 0;
    return this;
  }

  push(key: number): void {
    if (this.size === this.keys.length) {
      const grown = new Float64Array(this.size * 2);
      grown.set(this.keys);
      this.keys = grown;
    }
    const { keys } = this;
    let place = this.size;
    this.size += 1;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      const above = keys[parent] as number;
      if (above <= key) break;
      keys[place] = above;
      place = parent;
    }
    keys[place] = key;
  }

  /** Removes and returns the lowest; undefined if there is none. */
  pop(): number | undefined {
    if (this.size === 0) return undefined;
    const { keys } = this;
    const lowest = keys[0];
    this.size -= 1;
    const { size } = this;
    const key = keys[size] as number;
    let place = 0;
    for (;;) {
      let child = 2 * place + 1;
      if (child >= size) break;
      if (child + 1 < size && (keys[child + 1] as number) < (keys[child] as number)) child += 1;
      const below = keys[child] as number;
      if (below >= key) break;
      keys[place] = below;
      place = child;
    }
    keys[place] = key;
    return lowest;
  }
}
