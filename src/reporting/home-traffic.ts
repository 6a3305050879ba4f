// Traffic of the whole gateway: the last 24 begun UTC hours from the roll-ups that settlements write,
// compared with the 24 before them.
import { HOUR_MS } from "../domain/durations.ts";
import type { z } from "zod";
import type * as homeShapes from "../api/shapes/home.ts";
import { formatUsd, nanoUsd } from "../domain/money.ts";
import { printSum, printTime } from "../domain/print.ts";
import type { Clock } from "../lib/clock.ts";
import { exact } from "../store/exact-sum.ts";
import { exactTotal, from, rowsOf, theRow } from "../store/query.ts";
import type { Sql } from "../store/sql.ts";
import { hoursUsedByAll } from "./hours-used.ts";
import { sinceRequest, stillRuns } from "./request-time.ts";

type Traffic = z.output<typeof homeShapes.homeTraffic>;

interface TrafficPorts {
  sql: Sql;
  clock: Clock;
  flushRequestLog(): Promise<void>;
}

const HOURS = 24;
/** By organization: the tables are in their order, and a window of time is one range in each. */
const organizations = from.selectFrom("organization").select("org_id");

interface Hour {
  requests: number;
  charge: bigint;
  input: bigint;
  output: bigint;
}

/**
 * Counts cover whole hours, so the 24 hours end with one that is still running. Money is decimal text in US
 * dollars.
 */
export async function trafficNow(on: TrafficPorts): Promise<Traffic> {
  await on.flushRequestLog();
  const nowMs = on.clock.nowMs();
  const last = Math.floor(nowMs / HOUR_MS);
  const first = last - HOURS + 1;
  const hours = await hoursSince(on.sql, first - HOURS);
  const at = (hour: number): Hour => hours.get(hour) ?? { requests: 0, charge: 0n, input: 0n, output: 0n };
  const span = (start: number): number[] => Array.from({ length: HOURS }, (_, n) => start + n);
  return {
    from: printTime(first * HOUR_MS),
    to: printTime(nowMs),
    now: printed(span(first).map(at)),
    before: printed(span(first - HOURS).map(at)),
    ...(await outcomesOf(on.sql, first * HOUR_MS)),
    hours: span(first).map((hour) => ({
      at: printTime(hour * HOUR_MS),
      requests: at(hour).requests,
      charge_usd: formatUsd(nanoUsd(at(hour).charge)),
    })),
  };
}

async function hoursSince(sql: Sql, first: number): Promise<Map<number, Hour>> {
  const query = hoursUsedByAll(sql, { first })
    .groupBy("hour")
    .select((eb) => [
      "hour",
      exactTotal(eb.ref("requests")).as("requests"),
      exactTotal(eb.ref("charge")).as("charge"),
      exactTotal(eb.ref("input_tokens")).as("input"),
      exactTotal(eb.ref("output_tokens")).as("output"),
    ]);
  return new Map(
    (await rowsOf(sql, query)).map((row) => [
      Number(row.hour),
      {
        requests: Number(exact(row.requests)),
        charge: exact(row.charge),
        input: exact(row.input),
        output: exact(row.output),
      },
    ]),
  );
}

function printed(hours: readonly Hour[]): Traffic["now"] {
  const sum = (of: (hour: Hour) => bigint): bigint => hours.reduce((total, hour) => total + of(hour), 0n);
  return {
    requests: hours.reduce((total, { requests }) => total + requests, 0),
    charge_usd: formatUsd(nanoUsd(sum(({ charge }) => charge))),
    input_tokens: printSum(sum(({ input }) => input)),
    output_tokens: printSum(sum(({ output }) => output)),
  };
}

async function outcomesOf(
  sql: Sql,
  sinceMs: number,
): Promise<Pick<Traffic, "running" | "error_rate" | "refused">> {
  const held = from
    .selectFrom("request")
    .where("org_id", "in", organizations)
    .where("request_id", ">=", sinceRequest(sinceMs))
    .select((eb) => [
      eb.fn.countAll<bigint>().as("requests"),
      eb.fn.countAll<bigint>().filterWhere(stillRuns(sql)).as("running"),
      eb.fn
        .countAll<bigint>()
        .filterWhere(eb.or([eb("status", ">=", 500n), eb("state", "=", "released")]))
        .as("failed"),
    ]);
  const { requests, running, failed } = await theRow(sql, held);
  const refused = from
    .selectFrom("journal")
    .where("at", ">=", BigInt(sinceMs))
    .where("kind", "=", "refused")
    .select((eb) => exactTotal(eb.ref("requests")).as("requests"));
  const ended = Number(requests - running);
  return {
    running: Number(running),
    error_rate: ended === 0 ? 0 : Number(failed) / ended,
    refused: Number(exact((await theRow(sql, refused)).requests)),
  };
}
