// Work that must not come in numbers: of one place only so much runs at once, the rest stands in line, and those who ask take
// turns, so that nobody who asks for much keeps another one waiting for more than one piece of it. Places do not wait for
// one another.

/** Whose turn it is to be, and where. */
export interface Asked {
  place: string;
  /** Who asks. */
  by: string;
}

interface Line {
  running: number;
  /** Who waits and for what, in the order of their turns. */
  waiting: Map<string, (() => void)[]>;
}

/** A place that is idle takes no memory. Work that throws gives its turn on, too. */
export class Lines {
  /** Present while anything runs there. */
  private readonly lines = new Map<string, Line>();

  /** `abreast`: how much of one place runs at once. */
  constructor(private readonly abreast: number) {}

  /** What `work` comes to, once its turn has come. */
  async run<T>({ place, by }: Asked, work: () => Promise<T>): Promise<T> {
    const line = this.lines.get(place) ?? { running: 0, waiting: new Map() };
    this.lines.set(place, line);
    if (line.running < this.abreast) line.running += 1;
    else await turn(line, by);
    try {
      return await work();
    } finally {
      if (!next(line)) line.running -= 1;
      if (line.running === 0) this.lines.delete(place);
    }
  }
}

function turn({ waiting }: Line, by: string): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const own = waiting.get(by);
  if (own === undefined) waiting.set(by, [resolve]);
  else own.push(resolve);
  return promise;
}

/** Lets the next one run; whose turn it was goes behind the others. False where nobody waits. */
function next({ waiting }: Line): boolean {
  for (const [by, own] of waiting) {
    const begin = own.shift();
    waiting.delete(by);
    if (own.length > 0) waiting.set(by, own);
    begin?.();
    return true;
  }
  return false;
}
