// The keyed requests that run in this process, so that a duplicate joins the first one instead of paying again (money.md §8.5).
// Waiters hold no money, are bounded, and never cancel what they wait for.
import { Register } from "../lib/roster.ts";
import { Shares } from "../limits/shares.ts";
import type { ReplayBuffer } from "./replay-buffer.ts";

const WAITERS_PER_REQUEST = 64;
const ALL = { of: "all", most: 1024 };
/** So that one organization cannot take all of them from the others. */
const WAITERS_PER_ORGANIZATION = ALL.most / 4;

/** One running request, as its waiters see it. */
export interface Joined {
  requestId: string;
  /** Resolves with the stream once its status was sent; null if the request ends without one. */
  stream: Promise<ReplayBuffer | null>;
  /** Resolves when the request has ended, settled or voided. */
  ended: Promise<void>;
  /** The waiter is done or gone. */
  leave(): void;
}

/** One running request, as its owner sees it. */
export interface Flight {
  /** The status was sent; from now on duplicates follow the stream. */
  streams(replay: ReplayBuffer): void;
  /** Settled or voided; the ledger has the answer. */
  end(): void;
}

/** A request that runs on another gateway, as seen by the code that watches it here. */
export interface RemoteFlight extends Flight {
  /** False if nobody waits any more, or it turns out to run here. */
  readonly wanted: boolean;
}

interface Entry {
  /** Runs here; otherwise it is watched. */
  own: boolean;
  stream: PromiseWithResolvers<ReplayBuffer | null>;
  ended: PromiseWithResolvers<void>;
}

/** By request id; what it drops is in the ledger by then. */
export class InFlight {
  private readonly running = new Register<string, Entry>();
  private readonly waiting = new Shares();

  /** Waiters that saw its claim before this call, and began to wait, are waiting for it here. */
  begin(requestId: string): Flight {
    const entry = this.running.get(requestId) ?? this.enter(requestId);
    entry.own = true;
    return this.flightOf(requestId, entry);
  }

  /** Watches a request that does not run here; null if it does, or is already watched. */
  watch(requestId: string): RemoteFlight | null {
    if (this.running.has(requestId)) return null;
    const entry = this.enter(requestId);
    const { streams, end } = this.flightOf(requestId, entry);
    const { waiting } = this;
    return {
      streams,
      end: () => {
        if (!entry.own) end();
      },
      get wanted() {
        return !entry.own && waiting.takenOf(requestId) > 0;
      },
    };
  }

  private enter(requestId: string): Entry {
    const entry: Entry = {
      own: false,
      stream: Promise.withResolvers(),
      ended: Promise.withResolvers(),
    };
    this.running.set(requestId, entry);
    return entry;
  }

  private flightOf(requestId: string, entry: Entry): { streams: Flight["streams"]; end: Flight["end"] } {
    return {
      streams: (replay) => entry.stream.resolve(replay),
      end: () => {
        this.running.take(requestId);
        entry.stream.resolve(null);
        entry.ended.resolve();
      },
    };
  }

  /** Whether one more request of this organization may wait. */
  mayWait(organizationId: string): boolean {
    return this.waiting.passed([{ of: organizationId, most: WAITERS_PER_ORGANIZATION }, ALL]) === null;
  }

  /** Joins a running request; null if it is not known here, or if it, its organization or the process has too many waiters. */
  join({ requestId, organizationId }: { requestId: string; organizationId: string }): Joined | null {
    const entry = this.running.get(requestId);
    const shares = [
      { of: requestId, most: WAITERS_PER_REQUEST },
      { of: organizationId, most: WAITERS_PER_ORGANIZATION },
      ALL,
    ];
    if (entry === undefined || this.waiting.passed(shares) !== null) return null;
    const taken = this.waiting.take(shares);
    return {
      requestId,
      stream: entry.stream.promise,
      ended: entry.ended.promise,
      leave: () => taken.done(),
    };
  }
}
