// For commands on a store that no gateway has open: ends open requests as a start does.
import { DAY_MS } from "../domain/durations.ts";
import { FORMATS } from "../gateway/formats/formats.ts";
import { interruptedStreams } from "../gateway/interrupted-stream.ts";
import { openSqliteLedger } from "../ledger/sqlite/ledger.ts";
import { systemClock } from "../lib/clock.ts";
import type { SqliteStore } from "../store/sqlite.ts";

/** The settings that a command opens a ledger with. */
export const AS_A_START = {
  // Counted from the end of the requests resolved now. The configured values are not known here, so these exceed any
  // setting: a retry of such a request may be told for longer than configured that its answer is gone, but is never run
  // a second time too early.
  idempotency: { bodyRetentionMs: DAY_MS, tombstoneRetentionMs: 3_650 * DAY_MS },
  printInterrupted: interruptedStreams(FORMATS),
};

/** Ends every open request of an earlier process. */
export async function resolveRunning(store: SqliteStore): Promise<void> {
  const ledger = await openSqliteLedger({ store, clock: systemClock, ...AS_A_START });
  await ledger.close();
}
