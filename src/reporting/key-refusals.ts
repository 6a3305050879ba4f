// One key's refusals, over time by code, and by cause with the remedy. Read from the request log, whose rows
// are limited however often a key is refused (decision 17): a row beyond the quota counts many.
import { sql as fragment } from "kysely";
import type { z } from "zod";
import type * as shapes from "../api/shapes/refusal-causes.ts";
import { printTime } from "../domain/print.ts";
import type { Clock } from "../lib/clock.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { exact } from "../store/exact-sum.ts";
import { exactTotal, from } from "../store/query.ts";
import type { Sql } from "../store/sql.ts";
import { type CausesPorts, refusedRows, loggedIn, refusalCauses } from "./refusal-causes.ts";
import { OF_PIECE, sumRequestLog } from "./request-pieces.ts";
import { bucketOf, type Buckets, bucketsOf, printBuckets, startsOf } from "./usage-buckets.ts";
import type { Window } from "./windows.ts";

type KeyRefusals = z.output<typeof shapes.keyRefusals>;

interface KeyRefusalsPorts extends CausesPorts {
  clock: Clock;
  ledger: Pick<Ledger, "balance">;
  flushRequestLog(): Promise<void>;
}

/** More could not be distinguished in a chart. */
const CODES_MAX = 8;

/**
 * By code in buckets, and by cause with the remedy. A row beyond the log's quota counts as many refusals as
 * it stands for.
 */
export async function refusalsOfKey(
  on: KeyRefusalsPorts,
  { org, key, ...asked }: z.output<typeof shapes.keyRefusalsQuery>,
): Promise<KeyRefusals> {
  await on.flushRequestLog();
  const { window, buckets } = bucketsOf(asked, on.clock.nowMs());
  const paid = (await on.ledger.balance(org))?.paidWorkspace ?? false;
  return {
    ...printBuckets(buckets),
    at: startsOf(buckets).map(printTime),
    codes: await codesOf(on.sql, { org, key, window, buckets }),
    ...(await refusalCauses(on, org, { window, paid, key })),
  };
}

interface Counted {
  org: string;
  key: string;
  window: Window;
  buckets: Buckets;
}

type Code = KeyRefusals["codes"][number];

async function codesOf(sql: Sql, { org, key, window, buckets }: Counted): Promise<Code[]> {
  const bucket = bucketOf("at", buckets.fromMs, buckets.bucketMs);
  const pieces = sumRequestLog(sql, loggedIn(org, window), (piece) => {
    const refused = from
      .selectFrom(piece)
      .select((eb) => [
        "request_id",
        "code",
        "requests",
        fragment<bigint | null>`CASE WHEN ${refusedRows(key)(eb)} THEN ${bucket} END`.as("bucket"),
      ])
      .as("refused");
    return from
      .selectFrom(refused)
      .groupBy(["code", "bucket"])
      .select(["code", "bucket", ...OF_PIECE])
      .select((eb) => exactTotal(eb.ref("requests")).as("counted"));
  });
  const length = startsOf(buckets).length;
  const codes = new Map<string | null, Code>();
  for await (const { code, bucket: at, counted } of pieces) {
    if (at === null) continue; // no refusal, or of another key
    const one = codes.get(code) ?? { code, requests: 0, counts: Array.from({ length }, () => 0) };
    codes.set(code, one);
    add(one, [[Math.min(Math.max(0, Number(at)), length - 1), Number(exact(counted))]]);
  }
  return withOthers([...codes.values()].toSorted((a, b) => b.requests - a.requests));
}

function add(code: Code, counts: Iterable<[at: number, requests: number]>): void {
  for (const [at, requests] of counts) {
    code.requests += requests;
    code.counts[at] = (code.counts[at] ?? 0) + requests;
  }
}

/** Rows without a code, of which there should be none, count with the others. */
function withOthers(codes: readonly Code[]): Code[] {
  const named = codes.filter(({ code }) => code !== null).slice(0, CODES_MAX);
  const others = codes.filter((one) => !named.includes(one));
  const [first, ...more] = others;
  if (first === undefined) return named;
  const together = { ...first, code: null, counts: [...first.counts] };
  for (const { counts } of more) add(together, counts.entries());
  return [...named, together];
}
