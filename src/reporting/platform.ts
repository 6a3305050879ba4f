// The platform: the state of this process and its store.
import { DAY_MS } from "../domain/durations.ts";
import type * as platformShapes from "../api/shapes/platform.ts";
import type { z } from "zod";
import { printTime, printTimeOrNull } from "../domain/print.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { OWNER_LOST } from "../ledger/records.ts";
import type { Clock } from "../lib/clock.ts";
import { from, theRow } from "../store/query.ts";
import type { Sql } from "../store/sql.ts";
import { sinceRequest, stillRuns } from "./request-time.ts";
import { storeHealth, type StoreHealthPorts } from "./store-health.ts";

export interface PlatformPorts extends Pick<StoreHealthPorts, "lastBackup"> {
  sql: Sql;
  clock: Clock;
  ledger: Pick<Ledger, "pulse" | "ready">;
  version: string;
  store: "sqlite" | "postgresql";
  startedAtMs: number;
  /** Whether the configuration file was changed or removed since the start; null if there was none. */
  configurationChanged(): boolean | null;
  streamsOpen(): number;
  forgotten(): number;
  overloadRefusals(): number;
  /** Failed runs of background work since the start, by job. */
  failedJobs(): ReadonlyMap<string, number>;
}

/** This process, the store that it shares, and what processes that ended lost within a day. */
export async function platformHealth(on: PlatformPorts): Promise<z.output<typeof platformShapes.health>> {
  const open = from
    .selectFrom("request")
    .where(stillRuns(on.sql))
    .select((eb) => [
      eb.fn.countAll<bigint>().as("holds"),
      eb.fn.min<bigint | null>("admitted_at").as("oldest"),
    ]);
  const { holds, oldest } = await theRow(on.sql, open);
  const lost = from
    .selectFrom("request")
    // By organization: the table is in their order, and a range of ids is one range in each.
    .where("org_id", "in", from.selectFrom("organization").select("org_id"))
    .where("request_id", ">=", sinceRequest(on.clock.nowMs() - DAY_MS))
    .where("error_code", "=", OWNER_LOST)
    .select((eb) => eb.fn.countAll<bigint>().as("requests"));
  const quarantined = from
    .selectFrom("quarantine")
    .innerJoin("request", (join) =>
      join
        .onRef("request.org_id", "=", "quarantine.org_id")
        .onRef("request.request_id", "=", "quarantine.request_id"),
    )
    .where("decided_at", "is", null)
    .where(stillRuns(on.sql))
    .select((eb) => eb.fn.countAll<bigint>().as("requests"));
  const changed = on.configurationChanged();
  return {
    version: on.version,
    started_at: printTime(on.startedAtMs),
    configuration: changed === null ? null : { file_changed: changed },
    now: printTime(on.clock.nowMs()),
    ready: on.ledger.ready(),
    store: on.store,
    running: Number(holds),
    holds_open: Number(holds),
    oldest_hold_at: printTimeOrNull(oldest),
    outcomes_unknown: Number((await theRow(on.sql, lost)).requests),
    streams_open: on.streamsOpen(),
    memory_bytes: process.memoryUsage().rss,
    event_loop_delay_ms: await loopDelayMs(),
    refusals_forgotten: on.forgotten(),
    quarantined: Number((await theRow(on.sql, quarantined)).requests),
    stopped: on.ledger.pulse().stopped,
    failed_jobs: [...on.failedJobs()].map(([job, failures]) => ({ job, failures })),
    overload_refusals: on.overloadRefusals(),
    ...(await storeHealth(on)),
  };
}

/** How late a zero-delay timer fires: the delay that work in the event loop adds to every request. */
async function loopDelayMs(): Promise<number> {
  const began = performance.now();
  await new Promise((resolve) => setTimeout(resolve, 0));
  return Math.round((performance.now() - began) * 10) / 10;
}
