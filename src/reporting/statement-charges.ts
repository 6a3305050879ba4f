// A month's charges by model and key: summed over the requests themselves, in pieces, along their primary
// key. Roll-ups count by the hour of admission, a statement by the time of the entry, so they cannot be used.
import { DAY_MS } from "../domain/durations.ts";
import { sql as fragment } from "kysely";
import { type NanoUsd, nanoUsd, ZERO_USD } from "../domain/money.ts";
import { exact, exactUsd } from "../store/exact-sum.ts";
import { exactTotal, from, rowsOf } from "../store/query.ts";
import type { Sql } from "../store/sql.ts";
import { othersTurn, PIECE } from "./ledger-place.ts";
import { sinceRequest } from "./request-time.ts";

/**
 * How long before the month a request that ended in it may have begun: searched further back only while
 * something is missing.
 */
const BANDS_MS = [DAY_MS, 62 * DAY_MS, Number.POSITIVE_INFINITY];

/** What one key spent on one model in the month, by the time of the ledger's entries; `charge` in nano-USD. */
export interface ModelAndKey {
  model: string;
  key: string;
  requests: number;
  charge: NanoUsd;
}

export interface ChargesAsk {
  organizationId: string;
  fromMs: number;
  /** Not included. */
  toMs: number;
  /** The charges according to the ledger's entries. */
  charged: NanoUsd;
}

/** The largest first. Any difference to `charged` is not accounted for by a request. */
export async function chargesByModelAndKey(sql: Sql, ask: ChargesAsk): Promise<ModelAndKey[]> {
  const found = new Map<string, ModelAndKey>();
  let sum = 0n;
  let before = ask.toMs;
  for (const band of BANDS_MS) {
    const since = Math.max(0, ask.fromMs - band);
    for await (const row of pieces(sql, ask, { since, before })) {
      const id = JSON.stringify([row.model, row.key]);
      const one = found.get(id) ?? { ...row, requests: 0, charge: ZERO_USD };
      found.set(id, {
        ...one,
        requests: one.requests + row.requests,
        charge: nanoUsd(one.charge + row.charge),
      });
      sum += row.charge;
    }
    if (sum === ask.charged) break;
    before = since;
  }
  return [...found.values()]
    .filter(({ requests }) => requests > 0)
    .toSorted((a, b) =>
      a.charge === b.charge ? compare(a.model + a.key, b.model + b.key) : a.charge < b.charge ? 1 : -1,
    );
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Requests that began in the band, in batches; those that ended in the month count. */
async function* pieces(
  sql: Sql,
  { organizationId, fromMs, toMs }: ChargesAsk,
  { since, before }: { since: number; before: number },
): AsyncGenerator<ModelAndKey, void> {
  const ended = fragment`ended_at >= ${fragment.lit(fromMs)} AND ended_at < ${fragment.lit(toMs)}`;
  const charge = fragment<bigint>`CASE WHEN ${ended} THEN charge ELSE 0 END`;
  const counts = fragment<bigint>`CASE WHEN ${ended} AND charge > 0 THEN 1 ELSE 0 END`;
  for (let cursor = sinceRequest(since); ; await othersTurn()) {
    const piece = from
      .selectFrom("request")
      .select(["request_id", "model", "key_id", "charge", "ended_at"])
      .where("org_id", "=", organizationId)
      .where("request_id", ">", cursor)
      .where("request_id", "<", sinceRequest(before))
      .orderBy("request_id")
      .limit(Number(PIECE));
    const query = from
      .selectFrom(piece.as("piece"))
      .groupBy(["model", "key_id"])
      .select((eb) => [
        "model",
        "key_id",
        eb.fn.countAll<bigint>().as("walked"),
        eb.fn.max("request_id").as("last"),
        exactTotal(counts).as("requests"),
        exactTotal(charge).as("charged"),
      ]);
    const rows = await rowsOf(sql, query);
    for (const row of rows)
      yield {
        model: row.model,
        key: row.key_id,
        requests: Number(exact(row.requests)),
        charge: exactUsd(row.charged),
      };
    if (rows.reduce((sum, { walked }) => sum + BigInt(walked), 0n) < PIECE) return;
    cursor = rows.reduce((last, row) => (row.last > last ? row.last : last), cursor);
  }
}
