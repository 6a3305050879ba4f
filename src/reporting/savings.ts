// Savings by replays, and the cost elsewhere: repeats at the cost of the repeated request, tokens at the
// prices published now. A comparison, not a bill: a request priced by prompt length is assumed to have the
// mean length.
import { HOUR_MS } from "../domain/durations.ts";
import { sql as fragment } from "kysely";
import type { z } from "zod";
import type * as savingShapes from "../api/shapes/savings.ts";
import { formatUsd, maxUsd, nanoUsd, type NanoUsd } from "../domain/money.ts";
import { percentChange } from "../domain/price-comparison.ts";
import type { Price } from "../domain/price.ts";
import { printSum, printTime } from "../domain/print.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Clock } from "../lib/clock.ts";
import { nanoFromFine, rateCard } from "../pricing/rates.ts";
import { nearestToLive, type RouteStanding } from "../releases/standing.ts";
import { exact } from "../store/exact-sum.ts";
import { exactTotal, from, rowsOf, when } from "../store/query.ts";
import type { Sql } from "../store/sql.ts";
import { hoursUsed, tokensUsed } from "./hours-used.ts";
import { OF_PIECE, sumRequestLog } from "./request-pieces.ts";
import { sinceRequest } from "./request-time.ts";
import { type Window, windowOf } from "./windows.ts";

type Savings = z.output<typeof savingShapes.savings>;
type Query = z.output<typeof savingShapes.savingsQuery>;

export interface SavingsPorts {
  sql: Sql;
  clock: Clock;
  ledger: Pick<Ledger, "balance">;
  standings(): RouteStanding[];
  flushRequestLog(): Promise<void>;
}

const ELSEWHERE_MAX = 20;

interface Asked {
  organizationId: string;
  query: Query;
  window: Window;
}

/**
 * `elsewhere` lists models that this organization may call now, the cheapest first. Throws `Refusal` for an
 * invalid window.
 */
export async function savingsOf(on: SavingsPorts, organizationId: string, query: Query): Promise<Savings> {
  await on.flushRequestLog();
  const window = windowOf(query, on.clock.nowMs());
  const asked = { organizationId, query, window };
  const models = Map.groupBy(on.standings(), ({ release }) => release.model);
  const vectors = new Set(
    [...models].flatMap(([model, of]) => (givesVectors(nearestToLive(of)) ? model : [])),
  );
  const used = await tokensOf(on.sql, asked, vectors);
  const paid = (await on.ledger.balance(organizationId))?.paidWorkspace === true;
  const elsewhere = [...models].flatMap(([model, routes]) => {
    const standing = nearestToLive(routes);
    if (used.requests === 0n || model === query.model || !isOpen(standing, paid)) return [];
    const cost = costElsewhere(used, standing.release.price);
    return [{ model, cost, percent: percentChange(used.charge, cost) }];
  });
  elsewhere.sort((a, b) => (a.cost < b.cost ? -1 : a.cost > b.cost ? 1 : a.model < b.model ? -1 : 1));
  return {
    from: printTime(window.fromMs),
    to: printTime(window.toMs),
    ...(await replaysOf(on.sql, asked)),
    used: {
      requests: printSum(used.requests),
      input_tokens: printSum(used.input),
      cached_tokens: printSum(used.cached),
      cache_write_tokens: printSum(used.written),
      output_tokens: printSum(used.output),
      charge_usd: formatUsd(used.charge),
    },
    elsewhere: elsewhere
      .slice(0, ELSEWHERE_MAX)
      .map(({ model, cost, percent }) => ({ model, charge_usd: formatUsd(cost), percent })),
  };
}

const givesVectors = ({ release }: RouteStanding): boolean => Boolean(release.capabilities.embeddings);
const isOpen = (standing: RouteStanding, paid: boolean): boolean =>
  standing.state === "live" &&
  standing.release.tier === "standard" &&
  (paid || !standing.release.requiresPaid) &&
  !givesVectors(standing);

/** Exact sums over many requests. */
export interface Tokens {
  requests: bigint;
  /** Includes cached and written tokens. */
  input: bigint;
  cached: bigint;
  written: bigint;
  output: bigint;
}

/** The cost of these tokens at a price, request minimums included. */
export function costElsewhere({ requests, input, cached, written, output }: Tokens, price: Price): NanoUsd {
  const mean = requests === 0n ? 0 : Number(input / requests);
  const { each } = rateCard(price, mean, null);
  const read = cached < input ? cached : input;
  const wrote = written < input - read ? written : input - read;
  const plain = input - read - wrote;
  const sum = plain * each.input + read * each.cached_input + wrote * each.cache_write + output * each.output;
  return maxUsd(nanoFromFine(sum), nanoUsd(price.requestMinimum * requests));
}

async function tokensOf(
  sql: Sql,
  { organizationId, query, window: { fromMs, toMs } }: Asked,
  vectors: ReadonlySet<string>,
): Promise<Tokens & { charge: NanoUsd }> {
  const { key, model } = query;
  const keys = key === undefined ? undefined : [key];
  const part = { first: Math.floor(fromMs / HOUR_MS), behind: Math.ceil(toMs / HOUR_MS), keys, model };
  const read = hoursUsed(sql, organizationId, part)
    .groupBy("model")
    .select((eb) => [
      "model",
      exactTotal(eb.ref("requests")).as("requests"),
      ...tokensUsed(eb),
      exactTotal(eb.ref("charge")).as("charge"),
    ]);
  const rows = (await rowsOf(sql, read)).filter(({ model }) => !vectors.has(model));
  const sum = (of: (row: (typeof rows)[number]) => string | null): bigint =>
    rows.reduce((total, row) => total + exact(of(row)), 0n);
  return {
    requests: sum((row) => row.requests),
    input: sum((row) => row.input),
    cached: sum((row) => row.cached),
    written: sum((row) => row.written),
    output: sum((row) => row.output),
    charge: nanoUsd(sum((row) => row.charge)),
  };
}

/** Rows with equal counts of repeats are summed together, and multiplied where no number overflows. */
async function replaysOf(
  sql: Sql,
  { organizationId, query, window: { fromMs, toMs } }: Asked,
): Promise<Pick<Savings, "replays" | "replayed_usd">> {
  const range = { organizationId, from: sinceRequest(fromMs), to: sinceRequest(toMs) };
  const pieces = sumRequestLog(sql, range, (piece) => {
    const repeats = from
      .selectFrom(piece)
      .select((eb) => {
        const asked = eb.and([
          eb("kind", "=", "replay"),
          ...when(query.key, (key) => eb("key_id", "=", key)),
          ...when(query.model, (model) => eb("model", "=", model)),
        ]);
        // A row of several may not say what was repeated: it counts, at no cost.
        return [
          "request_id",
          "requests",
          fragment<bigint | null>`CASE WHEN ${asked} THEN 1 END`.as("one"),
          fragment<string | null>`CASE WHEN ${asked} THEN replay_of END`.as("paid"),
        ];
      })
      .as("repeats");
    const charges = from
      .selectFrom(repeats)
      .leftJoin("request", (join) =>
        join.on("request.org_id", "=", organizationId).onRef("request.request_id", "=", "repeats.paid"),
      )
      .select(["repeats.request_id", "repeats.requests", "repeats.one", "request.charge"])
      .as("charges");
    return from
      .selectFrom(charges)
      .groupBy("requests")
      .select(["requests", ...OF_PIECE])
      .select((eb) => [eb.fn.count<bigint>("one").as("rows"), exactTotal(eb.ref("charge")).as("charge")]);
  });
  let [replays, replayed] = [0n, 0n];
  for await (const { requests, rows, charge } of pieces) {
    replays += requests * rows;
    replayed += requests * exact(charge);
  }
  return { replays: printSum(replays), replayed_usd: formatUsd(nanoUsd(replayed)) };
}
