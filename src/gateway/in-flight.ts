// The keyed requests that run in this process, so that a duplicate joins the first one instead of paying again
// (money.md §8.5). Waiters hold no money, are bounded, and never cancel what they wait for.
import type { KeptStream } from "./kept-stream.ts";

const WAITERS_PER_REQUEST = 64;
const WAITERS = 1024;

/** One running request, as those see it that wait for it. */
export interface Joined {
  requestId: string;
  /** Resolves with the stream once its status was sent; null when the request ends without one. */
  stream: Promise<KeptStream | null>;
  /** Resolves when the request has ended, settled or released. */
  ended: Promise<void>;
  /** The waiter is done or gone. */
  leave(): void;
}

/** One running request, as its owner sees it. */
export interface Flight {
  /** The status was sent; from now on duplicates follow the stream. */
  streams(kept: KeptStream): void;
  /** Settled or released; the ledger has the answer. */
  end(): void;
}

/** A request that runs on another gateway, as the one sees it who looks after it there. */
export interface Watch extends Flight {
  /** False when nobody waits any more, or it turns out to run here. */
  readonly wanted: boolean;
}

interface Entry {
  /** Runs here; otherwise it is watched. */
  own: boolean;
  stream: PromiseWithResolvers<KeptStream | null>;
  ended: PromiseWithResolvers<void>;
  waiters: number;
}

export class InFlight {
  private readonly running = new Map<string, Entry>();
  private waiters = 0;

  /** Who has begun to wait for it already, seeing its claim before this was called, waits for it here. */
  begin(requestId: string): Flight {
    const entry = this.running.get(requestId) ?? this.enter(requestId);
    entry.own = true;
    return this.flightOf(requestId, entry);
  }

  /** Looks after a request that does not run here; null when it does, or is looked after already. */
  watch(requestId: string): Watch | null {
    if (this.running.has(requestId)) return null;
    const entry = this.enter(requestId);
    const { streams, end } = this.flightOf(requestId, entry);
    return {
      streams,
      end: () => {
        if (!entry.own) end();
      },
      get wanted() {
        return !entry.own && entry.waiters > 0;
      },
    };
  }

  private enter(requestId: string): Entry {
    const entry: Entry = {
      own: false,
      stream: Promise.withResolvers(),
      ended: Promise.withResolvers(),
      waiters: 0,
    };
    this.running.set(requestId, entry);
    return entry;
  }

  private flightOf(requestId: string, entry: Entry): { streams: Flight["streams"]; end: Flight["end"] } {
    return {
      streams: (kept) => entry.stream.resolve(kept),
      end: () => {
        this.running.delete(requestId);
        entry.stream.resolve(null);
        entry.ended.resolve();
      },
    };
  }

  /** Joins a running request; null when it is not known here or has its most waiters. */
  join(requestId: string): Joined | null {
    const entry = this.running.get(requestId);
    if (entry === undefined || entry.waiters >= WAITERS_PER_REQUEST || this.waiters >= WAITERS) return null;
    entry.waiters += 1;
    this.waiters += 1;
    let here = true;
    return {
      requestId,
      stream: entry.stream.promise,
      ended: entry.ended.promise,
      leave: () => {
        if (!here) return;
        here = false;
        entry.waiters -= 1;
        this.waiters -= 1;
      },
    };
  }
}
