// Requests that another gateway of the same store runs, for the duplicates that arrive here (money.md §8.5). One poll per request,
// however many wait for it, feeds what the other gateway has stored into the same `InFlight` that duplicates join for local
// requests.
import type { StoredAnswer } from "../ledger/ledger.ts";
import { UnreadableRecord } from "../ledger/unreadable.ts";
import type { Jobs } from "../lib/jobs.ts";
import { EVENT_STREAM } from "./event-stream.ts";
import type { InFlight, RemoteFlight } from "./in-flight.ts";
import { ReplayBuffer } from "./replay-buffer.ts";

const POLL_FIRST_MS = 100;
const POLL_AT_MOST_MS = 500;

export interface Place {
  organizationId: string;
  requestId: string;
}

/** What a store shows of a running request. */
interface Seen {
  state: "running" | "quarantined" | "settled" | "released";
  /** What was sent since, in order and without a gap; empty if nothing is stored. */
  chunks: Uint8Array[];
  /** Set once the request has ended, if its answer is stored. */
  answer: StoredAnswer | null;
}

/** What was passed on so far. */
interface Fed {
  replay: ReplayBuffer;
  chunks: number;
  bytes: number;
}

export interface RemoteInFlightPorts {
  inFlight: InFlight;
  /** `from`: how many chunks are already known. */
  look(place: Place, from: number): Promise<Seen>;
  jobs: Jobs;
}

/** Polls only while somebody here waits, and less often the longer it takes. */
export class RemoteInFlight {
  constructor(private readonly ports: RemoteInFlightPorts) {}

  /** Makes a request that runs on another gateway joinable here; does nothing if it already is. */
  watch(place: Place): void {
    const watch = this.ports.inFlight.watch(place.requestId);
    if (watch !== null) this.ports.jobs.run("elsewhere", () => this.follow(place, watch));
  }

  private async follow(place: Place, watch: RemoteFlight): Promise<void> {
    const stream = { replay: ReplayBuffer.kept(), chunks: 0, bytes: 0 };
    try {
      await this.feed(place, watch, stream);
    } finally {
      stream.replay.end("whole"); // nobody waits for it any more: any followers left are ended
      watch.end();
    }
  }

  private async feed(place: Place, watch: RemoteFlight, stream: Fed): Promise<void> {
    for (let waitMs = POLL_FIRST_MS; ; waitMs = Math.min(waitMs * 1.5, POLL_AT_MOST_MS)) {
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      if (!watch.wanted) break;
      const seen = await this.ports.look(place, stream.chunks).catch((error: unknown) => {
        if (!(error instanceof UnreadableRecord)) return null;
        stream.replay.end("broken");
        throw error;
      });
      if (!watch.wanted) break;
      if (seen === null) continue; // the store is away: waiters have their own limit
      for (const chunk of seen.chunks) {
        stream.replay.add(Buffer.from(chunk).toString());
        stream.bytes += chunk.byteLength;
        stream.chunks += 1;
        watch.streams(stream.replay);
        waitMs = POLL_FIRST_MS;
      }
      if (seen.state === "running") continue;
      finish(stream, seen);
      break;
    }
  }
}

/** The stored answer is the whole stream: the part that has not been passed on yet ends it. */
function finish(stream: Fed, { state, answer }: Seen): void {
  if (answer === null || answer.headers["content-type"] !== EVENT_STREAM) {
    stream.replay.end(state === "settled" ? "unkept" : "broken");
    return;
  }
  stream.replay.add(Buffer.from(answer.body.subarray(stream.bytes)).toString());
  stream.replay.end("whole");
}
