// Requests that another gateway of the same store runs, for the duplicates that arrive here (money.md §8.5): one poll per
// request, however many wait for it, feeds what it has stored into the same `InFlight` that they would join at home.
import type { StoredAnswer } from "../ledger/ledger.ts";
import { EVENT_STREAM } from "./frames.ts";
import type { InFlight, Watch } from "./in-flight.ts";
import { KeptStream } from "./kept-stream.ts";

const POLL_FIRST_MS = 100;
const POLL_AT_MOST_MS = 500;

export interface Place {
  organizationId: string;
  requestId: string;
}

/** What a store shows of a request that somebody runs. */
export interface Seen {
  state: "running" | "settled" | "released";
  /** What was sent since, in order and without a gap; empty when nothing is stored. */
  chunks: Uint8Array[];
  /** Once it has ended, if its answer is kept. */
  answer: StoredAnswer | null;
}

export interface ElsewherePorts {
  inFlight: InFlight;
  /** `from`: how many chunks are known already. */
  look(place: Place, from: number): Promise<Seen>;
}

export class Elsewhere {
  constructor(private readonly ports: ElsewherePorts) {}

  /** Makes a request that runs on another gateway one that can be joined; nothing when it can be already. */
  watch(place: Place): void {
    const watch = this.ports.inFlight.watch(place.requestId);
    if (watch !== null) void this.follow(place, watch);
  }

  private async follow(place: Place, watch: Watch): Promise<void> {
    const stream = { kept: new KeptStream(true), chunks: 0, bytes: 0 };
    for (let waitMs = POLL_FIRST_MS; ; waitMs = Math.min(waitMs * 1.5, POLL_AT_MOST_MS)) {
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      if (!watch.wanted) break;
      const seen = await this.ports.look(place, stream.chunks).catch(() => null);
      if (!watch.wanted) break;
      if (seen === null) continue; // the store is away: those who wait have their own limit
      for (const chunk of seen.chunks) {
        stream.kept.add(Buffer.from(chunk).toString());
        stream.bytes += chunk.byteLength;
        stream.chunks += 1;
        watch.streams(stream.kept);
        waitMs = POLL_FIRST_MS;
      }
      if (seen.state === "running") continue;
      finish(stream, seen);
      break;
    }
    stream.kept.end("whole"); // when nobody wants it any more, those who followed it have left: they are told to go
    watch.end();
  }
}

/** The stored answer is the whole stream: what of it has not been passed on yet ends it. */
function finish(stream: { kept: KeptStream; bytes: number }, { state, answer }: Seen): void {
  if (answer === null || answer.headers["content-type"] !== EVENT_STREAM) {
    stream.kept.end(state === "settled" ? "unkept" : "broken");
    return;
  }
  stream.kept.add(Buffer.from(answer.body.subarray(stream.bytes)).toString());
  stream.kept.end("whole");
}
