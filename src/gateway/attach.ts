// A duplicate of a keyed request that is still running (money.md §8.5). It waits for the end and then asks the ledger again, or
// follows the running stream from its first byte. It holds no money and never cancels the original.
import type { Clock } from "../lib/clock.ts";
import type { RemoteInFlight, Place } from "./remote-in-flight.ts";
import type { InFlight, Joined } from "./in-flight.ts";
import type { Incoming } from "./incoming.ts";
import { printLostStream } from "./interrupted-stream.ts";
import { EVENT_STREAM, KEEP_ALIVE } from "./event-stream.ts";
import type { IdempotencyKey } from "./idempotency.ts";
import type { ReplayBuffer } from "./replay-buffer.ts";
import type { Relayed } from "./relay.ts";

export interface AttachPorts {
  inFlight: InFlight;
  /** Requests that run on other gateways of the same store; null if there are none. */
  remoteInFlight: RemoteInFlight | null;
  /** How long a duplicate waits for an answer that is not streamed, milliseconds. */
  attachWaitMs: number;
  clock: Clock;
}

/** A stream that another request pays for. */
export interface Followed {
  kind: "follow";
  /** Id of the request that is followed. */
  requestId: string;
  headers: Record<string, string>;
  relayed: Relayed;
}

export type Attached = Followed | { kind: "ended" } | { kind: "late" };

/** The header that marks an answer as a replay. */
export const REPLAYED = { "idempotent-replayed": "true" };

export interface Wait {
  incoming: Pick<Incoming, "signal" | "lastEventId" | "format">;
  idempotency: IdempotencyKey;
  stream: boolean;
  /** Monotonic milliseconds. */
  untilMs: number;
}

/** Waits until `untilMs` at most. `late`: there are too many waiters, or it takes longer. */
export async function attach(ports: AttachPorts, place: Place, wait: Wait): Promise<Attached> {
  if (ports.inFlight.mayWait(place.organizationId)) ports.remoteInFlight?.watch(place);
  const joined = ports.inFlight.join(place);
  if (joined === null) return { kind: "late" };
  const news = wait.stream ? joined.stream : joined.ended.then(() => null);
  const arrived = await Promise.race([
    news,
    over(wait.incoming.signal, wait.untilMs - ports.clock.monotonicMs()),
  ]);
  if (arrived !== null && arrived !== "late") return follow(joined, arrived, wait);
  joined.leave();
  return { kind: arrived === null ? "ended" : "late" };
}

function follow(joined: Joined, replay: ReplayBuffer, wait: Wait): Followed {
  return {
    kind: "follow",
    requestId: joined.requestId,
    headers: { "content-type": EVENT_STREAM, ...REPLAYED },
    relayed: {
      frames: frames(joined, replay, wait),
      filler: () => KEEP_ALIVE,
      leave: () => joined.leave(),
    },
  };
}

async function* frames(
  joined: Joined,
  replay: ReplayBuffer,
  { incoming, idempotency }: Wait,
): AsyncGenerator<string, void, void> {
  try {
    yield* replay.follow(
      incoming.lastEventId,
      printLostStream(incoming.format, joined.requestId, idempotency),
    );
  } finally {
    joined.leave();
  }
}

/** Resolves to `late` when the time is over or the client has left. */
function over(client: AbortSignal, ms: number): Promise<"late"> {
  if (client.aborted) return Promise.resolve("late"); // the signal would not fire again
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, Math.max(0, ms), "late");
    client.addEventListener(
      "abort",
      () => {
        clearTimeout(timer);
        resolve("late");
      },
      { once: true },
    );
  });
}
