// How a gateway that is told to stop ends what it has begun: open answers may finish for the grace time, or until it is told
// again; then they are cut, and their holds end by evidence.
import type { CallScopes } from "../gateway/call-scope.ts";
import type { Listening } from "../http/server.ts";
import type { EventStreams } from "../http/sse.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { within } from "../lib/within.ts";

/** A gateway that leaves has been told to stop: `/readyz` is off, and until it drains everything is served. */
export type Phase = "serving" | "leaving" | "draining";

export interface DrainPorts {
  graceMs: number;
  /** Whoever told it to stop does not want to wait any longer. */
  hurried: Promise<void>;
  callScopes: CallScopes;
  streams: EventStreams;
  ledger: Pick<Ledger, "ready">;
}

/** Resolves when nothing runs any more that the store could still be told of. */
export async function drain(
  server: Listening,
  { graceMs, hurried, callScopes, streams, ledger }: DrainPorts,
): Promise<void> {
  await Promise.race([within(server.stop("drain"), graceMs), hurried]);
  void server.stop("cut");
  callScopes.cutAll();
  await settled(Promise.all([callScopes.idle(), streams.idle()]), ledger);
}

/** What a store that stays away has not taken by then is on disk, and the next start settles it. */
const STORE_AWAY_MS = 3_000;

/** Waits for the end of what was cut, unless the store stays away. */
async function settled(cut: Promise<unknown>, ledger: Pick<Ledger, "ready">): Promise<void> {
  let ended = false;
  const ending = cut.then(() => {
    ended = true;
  });
  for (let awayMs = 0; !ended && awayMs < STORE_AWAY_MS; awayMs = ledger.ready() ? 0 : awayMs + 100)
    await within(ending, 100);
}
