// Limits concurrent work: only so much runs concurrently per place, the rest queues, and callers take turns, so
// that a caller with much work delays another by at most one piece of it. Callers may belong to parties, which
// take turns first. Places are independent of each other.

/** The place, and who takes turns there. */
export interface Asked {
  place: string;
  /** The caller. */
  by: string;
  /** Whose turn it is before the caller's among them; default: the caller alone. */
  party?: string | undefined;
  /** Work that still waits when this aborts is not begun. */
  signal?: AbortSignal | undefined;
}

interface Bounds {
  /** How much of one party runs at once per place; default: as much as there is room for. */
  eachParty?: number;
}

/** Waiting work of one party by caller, in the order of their turns. */
type Waiting = Map<string, (() => void)[]>;

interface Line {
  running: number;
  /** The running work of each party that has any. */
  runningOf: Map<string, number>;
  /** By party, in the order of their turns. */
  waiting: Map<string, Waiting>;
}

/** An idle place uses no memory. Work that throws passes its turn on, too. */
export class Lines {
  /** Contains a place while anything runs there. */
  private readonly lines = new Map<string, Line>();
  private readonly eachParty: number;

  /** `abreast`: how much runs concurrently per place. */
  constructor(
    private readonly abreast: number,
    { eachParty = abreast }: Bounds = {},
  ) {
    this.eachParty = eachParty;
  }

  /** Runs `work` when its turn comes, and returns its result. Rejects with the signal's reason if it aborts before that. */
  async run<T>({ place, by, party = by, signal }: Asked, work: () => Promise<T>): Promise<T> {
    signal?.throwIfAborted();
    const line = this.lines.get(place) ?? { running: 0, runningOf: new Map(), waiting: new Map() };
    this.lines.set(place, line);
    if (line.running < this.abreast && this.hasRoom(line, party)) took(line, party);
    else await turn(line.waiting, { by, party, signal });
    try {
      return await work();
    } finally {
      gaveBack(line, party);
      this.beginNext(line);
      if (line.running === 0) this.lines.delete(place);
    }
  }

  private hasRoom({ runningOf }: Line, party: string): boolean {
    return (runningOf.get(party) ?? 0) < this.eachParty;
  }

  /** Begins the next piece of the first party that may have another one; it moves behind the others. */
  private beginNext(line: Line): void {
    for (const [party, callers] of line.waiting) {
      if (!this.hasRoom(line, party)) continue;
      const begin = nextOf(callers);
      line.waiting.delete(party);
      if (callers.size > 0) line.waiting.set(party, callers);
      took(line, party);
      return begin?.();
    }
  }
}

function took(line: Line, party: string): void {
  line.running += 1;
  line.runningOf.set(party, (line.runningOf.get(party) ?? 0) + 1);
}

function gaveBack(line: Line, party: string): void {
  line.running -= 1;
  const left = (line.runningOf.get(party) ?? 1) - 1;
  if (left === 0) line.runningOf.delete(party);
  else line.runningOf.set(party, left);
}

type Turn = Required<Pick<Asked, "by" | "party">> & Pick<Asked, "signal">;

/** Waits until the work may begin; it counts as running by then. */
function turn(waiting: Line["waiting"], { by, party, signal }: Turn): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const callers: Waiting = waiting.get(party) ?? new Map();
  waiting.set(party, callers);
  const own = callers.get(by) ?? [];
  callers.set(by, own);
  const leave = (): void => {
    own.splice(own.indexOf(begin), 1);
    if (own.length === 0) callers.delete(by);
    if (callers.size === 0) waiting.delete(party);
    reject(signal?.reason);
  };
  const begin = (): void => {
    signal?.removeEventListener("abort", leave);
    resolve();
  };
  own.push(begin);
  signal?.addEventListener("abort", leave, { once: true });
  return promise;
}

/** Takes the first piece of the first caller, who moves behind the others. */
function nextOf(callers: Waiting): (() => void) | undefined {
  for (const [by, own] of callers) {
    const begin = own.shift();
    callers.delete(by);
    if (own.length > 0) callers.set(by, own);
    return begin;
  }
  return undefined;
}
