// Limits concurrent work: only a fixed number runs concurrently per place, the rest queues, and callers take turns, so
// that a caller with much work delays another by at most one piece of it. Places are independent of each other.

/** The place, and the caller who takes turns there. */
export interface Asked {
  place: string;
  /** The caller. */
  by: string;
}

interface Line {
  running: number;
  /** Waiting work by caller, in the order of their turns. */
  waiting: Map<string, (() => void)[]>;
}

/** An idle place uses no memory. Work that throws passes its turn on, too. */
export class Lines {
  /** Contains a place while anything runs there. */
  private readonly lines = new Map<string, Line>();

  /** `abreast`: how many run concurrently per place. */
  constructor(private readonly abreast: number) {}

  /** Runs `work` when its turn comes, and returns its result. */
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

/** Starts the next one; its caller moves behind the others. False if nobody waits. */
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
