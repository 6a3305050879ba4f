// How a stopping gateway finishes its work: open responses may finish within the grace time, or until a
// second signal; then they are cut, and their holds end by evidence.
import type { CallScopes } from "../gateway/call-scope.ts";
import type { Listening } from "../http/server.ts";
import type { EventStreams } from "../http/sse.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { within } from "../lib/within.ts";

/** `leaving`: told to stop; `/readyz` is off, but everything is served until it drains. */
export type Phase = "serving" | "leaving" | "draining";

export interface DrainPorts {
  graceMs: number;
  /** Resolves when the operator does not want to wait any longer. */
  hurried: Promise<void>;
  callScopes: CallScopes;
  streams: EventStreams;
  ledger: Pick<Ledger, "ready">;
}

/** Resolves when nothing is left running that could still write to the store. */
export async function drain(
  server: Listening,
  { graceMs, hurried, callScopes, streams, ledger }: DrainPorts,
): Promise<void> {
  await Promise.race([within(server.stop("drain"), graceMs), hurried]);
  void server.stop("cut");
  callScopes.cutAll();
  await settled(Promise.all([callScopes.idle(), streams.idle()]), ledger);
}

/** If the store stays unreachable this long, the rest stays on disk, and the next start settles it. */
const STORE_AWAY_MS = 3_000;

/** Waits until everything cut has ended, unless the store stays unreachable. */
async function settled(cut: Promise<unknown>, ledger: Pick<Ledger, "ready">): Promise<void> {
  let ended = false;
  const ending = cut.then(() => {
    ended = true;
  });
  for (let awayMs = 0; !ended && awayMs < STORE_AWAY_MS; awayMs = ledger.ready() ? 0 : awayMs + 100)
    await within(ending, 100);
}
