// For commands on a store that no gateway has open: what was running is ended as a start ends it.
import { DAY_MS } from "../domain/durations.ts";
import { FORMATS } from "../gateway/formats/formats.ts";
import { interruptedStreams } from "../gateway/interrupted-stream.ts";
import { openSqliteLedger } from "../ledger/sqlite/ledger.ts";
import { systemClock } from "../lib/clock.ts";
import type { SqliteStore } from "../store/sqlite.ts";

/** What a ledger is opened with by a command. */
export const AS_A_START = {
  // Counted from the end of what is resolved now. What is configured is not known here: a retry of such a request may be answered
  // as one whose answer is gone, for longer than anybody sets; it is never a new one sooner than that.
  idempotency: { bodyRetentionMs: DAY_MS, tombstoneRetentionMs: 3_650 * DAY_MS },
  printInterrupted: interruptedStreams(FORMATS),
};

/** No request of an earlier process stays open. */
export async function resolveRunning(store: SqliteStore): Promise<void> {
  const ledger = await openSqliteLedger({ store, clock: systemClock, ...AS_A_START });
  await ledger.close();
}
