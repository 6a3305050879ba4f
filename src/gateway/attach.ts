// A duplicate of a keyed request that still runs (money.md §8.5): it waits for the end and then asks the ledger again,
// or follows the running stream from its first byte. It holds no money and never cancels the original.
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
  /** What other gateways of the same store run; null when there are none. */
  remoteInFlight: RemoteInFlight | null;
  /** How long a duplicate waits for a silent answer, milliseconds. */
  attachWaitMs: number;
  clock: Clock;
}

/** A stream that somebody else's request pays for. */
export interface Followed {
  kind: "follow";
  /** Of the request that is followed. */
  requestId: string;
  headers: Record<string, string>;
  relayed: Relayed;
}

export type Attached = Followed | { kind: "ended" } | { kind: "late" };

/** What says in an answer that it is the kept one. */
export const REPLAYED = { "idempotent-replayed": "true" };

export interface Wait {
  incoming: Pick<Incoming, "signal" | "lastEventId" | "format">;
  idempotency: IdempotencyKey;
  stream: boolean;
  /** Monotonic. */
  untilMs: number;
}

/** Waits at most until `untilMs`. `late`: it has its most waiters, or takes longer. */
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

/** Resolves `late` when the time is over or the client has left. */
function over(client: AbortSignal, ms: number): Promise<"late"> {
  if (client.aborted) return Promise.resolve("late"); // it would tell nobody any more
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
