// Holds compared with charges, by key and model, and the output maximum that would suffice. The roll-ups
// contain no holds, so this reads a limited number of the newest requests:
// docs/decisions/0057-what-an-overview-dares-to-say.md.
import type { z } from "zod";
import { type RawBuilder, sql as fragment } from "kysely";
import type * as holdShapes from "../api/shapes/holds.ts";
import { formatUsd } from "../domain/money.ts";
import { printTime } from "../domain/print.ts";
import type { Clock } from "../lib/clock.ts";
import type { Reader } from "../ledger/ledger.ts";
import { dearestRates, nanoFromFine } from "../pricing/rates.ts";
import { nearestToLive, type RouteStanding } from "../releases/standing.ts";
import { exact, exactUsd } from "../store/exact-sum.ts";
import { exactTotal, from, magnitude, numberOrNull, rowOf, rowsOf, when } from "../store/query.ts";
import type { Sql } from "../store/sql.ts";
import { keysNearLimit } from "./keys-near-limit.ts";
import { limitStanding } from "./key-limit.ts";
import type { LabelBook } from "./labels.ts";
import { sinceRequest } from "./request-time.ts";
import { windowOf } from "./windows.ts";

export type HoldsQuery = z.output<typeof holdShapes.holdsQuery>;
type Holds = z.output<typeof holdShapes.holds>;
type HoldRow = Holds["rows"][number];

export interface HoldUsePorts {
  sql: Sql;
  clock: Clock;
  ledger: Reader;
  labels: LabelBook;
  standings(): RouteStanding[];
}

/** The number of requests examined, of all keys: one walk along the primary key. */
const NEWEST_MAX = 10_000;
const ROWS_MAX = 50;
/** With fewer complete answers there is no prediction. */
const ANSWERS_MIN = 20;
/** If more than this percentage ended at their maximum, the natural length of answers is unknown. */
const ENDED_PERCENT_MAX = 10;
const MARGIN = { of: 5, over: 4 };
const STEP = 64;

/** What one key's requests to one model asked for and used. */
export interface Observed {
  answers: number;
  endedByMaximum: number;
  outputP99: number | null;
  /** The mean output bound of the holds. */
  outputBound: number;
}

/**
 * The 99th percentile of the answers plus a quarter, rounded up to a multiple of 64. Null for fewer than
 * twenty answers, if more than one in ten ended at its maximum, and if it would lower the mean bound by less
 * than a quarter.
 */
export function suggestedMaxTokens({
  answers,
  endedByMaximum,
  outputP99,
  outputBound,
}: Observed): number | null {
  if (outputP99 === null || answers < ANSWERS_MIN) return null;
  if (endedByMaximum * 100 > answers * ENDED_PERCENT_MAX) return null;
  const wanted = Math.ceil((outputP99 * MARGIN.of) / MARGIN.over);
  const suggested = Math.max(1, Math.ceil(wanted / STEP)) * STEP;
  return suggested * 4 <= outputBound * 3 ? suggested : null;
}

/**
 * By key and model, from a limited number of the newest requests in the window. Throws `Refusal` for an
 * invalid window.
 */
export async function holdUse(on: HoldUsePorts, organizationId: string, query: HoldsQuery): Promise<Holds> {
  const nowMs = on.clock.nowMs();
  const window = windowOf(query, nowMs);
  const newest = from
    .selectFrom("request")
    .where("org_id", "=", organizationId)
    .where("request_id", ">=", sinceRequest(window.fromMs))
    .where("request_id", "<", sinceRequest(window.toMs))
    .orderBy("request_id", "desc")
    .limit(NEWEST_MAX);
  const oldest = await rowOf(
    on.sql,
    newest
      .clearLimit()
      .limit(1)
      .offset(NEWEST_MAX - 1)
      .select("admitted_at"),
  );
  const rows = await rowsOf(on.sql, byKeyAndModel(newest.select(COLUMNS).as("newest"), query));
  const names = await on.labels.keysOf(
    organizationId,
    rows.map(({ key_id }) => key_id),
  );
  const outputRates = ratesOf(on.standings());
  return {
    from: printTime(oldest?.admitted_at ?? window.fromMs),
    to: printTime(window.toMs),
    cut: oldest !== undefined,
    rows: rows.map((row) => {
      const [requests, held, charge] = [Number(row.requests), exactUsd(row.held), exactUsd(row.charged)];
      const seen = {
        answers: Number(row.answers),
        endedByMaximum: Number(row.ended),
        outputP99: numberOrNull(row.p99),
        outputBound: Number(exact(row.bound) / BigInt(requests)),
      };
      const suggested = suggestedMaxTokens(seen);
      const rate = outputRates.get(row.model);
      return {
        key: { id: row.key_id, name: names.get(row.key_id)?.name ?? row.key_id },
        model: row.model,
        requests,
        held_usd: formatUsd(held),
        charge_usd: formatUsd(charge),
        used_percent: held === 0n ? null : Number((charge * 100n) / held),
        output_bound: seen.outputBound,
        answers: seen.answers,
        ended_by_maximum: seen.endedByMaximum,
        output_p99: seen.outputP99,
        suggested_max_tokens: suggested,
        frees_usd:
          suggested === null || rate === undefined
            ? null
            : formatUsd(nanoFromFine(BigInt(seen.outputBound - suggested) * rate)),
      } satisfies HoldRow;
    }),
    blocked: await blockedKeys(on, organizationId, query.key),
  };
}

const COLUMNS = [
  "key_id",
  "model",
  "hold",
  "charge",
  "output_bound",
  "completion_tokens",
  "finish_reason",
  "state",
] as const;

type Newest = ReturnType<typeof columnsOf>;
/** Used only for its type. */
const columnsOf = () => from.selectFrom("request").select(COLUMNS).as("newest");

/**
 * The smallest length that 99 of 100 complete answers do not exceed, computed from each answer's rank within
 * its key and model.
 */
function byKeyAndModel(newest: Newest, { key, model }: HoldsQuery) {
  const whole = fragment<bigint>`CASE WHEN finish_reason IS NOT NULL AND completion_tokens IS NOT NULL THEN 1 ELSE 0 END`;
  const answered = from
    .selectFrom(newest)
    .where("state", "=", "settled")
    .where((eb) =>
      eb.and([...when(key, (id) => eb("key_id", "=", id)), ...when(model, (name) => eb("model", "=", name))]),
    )
    .select([...COLUMNS, whole.as("whole")])
    .as("answered");
  const placed = from
    .selectFrom(answered)
    .selectAll()
    .select([
      fragment<bigint>`row_number() OVER (PARTITION BY key_id, model, whole ORDER BY completion_tokens)`.as(
        "place",
      ),
      fragment<bigint>`count(*) OVER (PARTITION BY key_id, model, whole)`.as("places"),
    ])
    .as("placed");
  const among = (of: RawBuilder<bigint>): RawBuilder<bigint> => fragment`CASE WHEN whole = 1 THEN ${of} END`;
  return from
    .selectFrom(placed)
    .groupBy(["key_id", "model"])
    .select((eb) => [
      "key_id",
      "model",
      eb.fn.countAll<bigint>().as("requests"),
      exactTotal(eb.ref("hold")).as("held"),
      exactTotal(eb.ref("charge")).as("charged"),
      exactTotal(eb.ref("output_bound")).as("bound"),
      eb.fn.count<bigint>(among(fragment`1`)).as("answers"),
      eb.fn.count<bigint>(among(fragment`CASE WHEN finish_reason = 'length' THEN 1 END`)).as("ended"),
      eb.fn
        .min<bigint | null>(among(fragment`CASE WHEN place * 100 >= places * 99 THEN completion_tokens END`))
        .as("p99"),
    ])
    .orderBy((eb) => magnitude(eb.ref("hold")), "desc")
    .orderBy("key_id")
    .orderBy("model")
    .limit(ROWS_MAX);
}

/** The highest output rate that a request to the model may get now. */
function ratesOf(standings: readonly RouteStanding[]): Map<string, bigint> {
  const routes = Map.groupBy(standings, ({ release }) => release.model);
  return new Map(
    [...routes].map(([model, of]) => [model, dearestRates(nearestToLive(of).release.price, 0).output]),
  );
}

async function blockedKeys(
  on: HoldUsePorts,
  organizationId: string,
  only?: string,
): Promise<Holds["blocked"]> {
  const keys = await keysNearLimit(on, organizationId, only);
  return keys.flatMap((key) => {
    const found = limitStanding(key);
    if (found?.standing !== "held") return [];
    const { period, limit, spent, held } = found.span;
    return [
      {
        key: { id: key.id, name: key.name },
        period,
        limit_usd: formatUsd(limit),
        spent_usd: formatUsd(spent),
        held_usd: formatUsd(held),
      },
    ];
  });
}
