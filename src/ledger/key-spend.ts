// A key's spend by day, read from the hours of its usage, and its noted holds. The hours are keyed by
// model first, so they are looked up model by model, which avoids reading older ones.
import { HOUR_MS } from "../domain/durations.ts";
import { type NanoUsd, nanoUsd } from "../domain/money.ts";
import { utcDay, weekOf } from "../lib/clock.ts";
import type { SqlDialect } from "../store/sql.ts";
import { type Cell, int, money, text } from "./cell.ts";
import type { KeySpend, NotedHold } from "./key-spans.ts";

/** The spend as loaded for a decision. Ended requests stay noted until the next admission of their key. */
export interface LoadedKeySpend extends KeySpend {
  ended: readonly string[];
}

/** Stamps are lifted by up to an hour, and two clocks may differ a little. */
const SLACK_MS = 2 * HOUR_MS;

/** Returns the earliest hour, since the Unix epoch, at which a week around the current time can start. */
export const weekFromHour = (aboutMs: number): number => weekOf(utcDay(aboutMs - SLACK_MS)) * 24;

/** The hours of one model of a key. Without the `OFFSET 0` PostgreSQL would scan the table rather than look up each. */
const HOURS: Readonly<Record<SqlDialect, string>> = {
  sqlite: `CROSS JOIN usage_hour u
  WHERE u.org_id = d.org_id AND u.key_id = d.key_id AND u.model = d.model AND u.hour >= ?3`,
  postgresql: `CROSS JOIN LATERAL (SELECT h.key_id, h.hour, h.charge FROM usage_hour h
    WHERE h.org_id = d.org_id AND h.key_id = d.key_id AND h.model = d.model AND h.hour >= ?3 OFFSET 0) u`,
};

const spentIn = (dialect: SqlDialect, keys: string, sum: string): string => `
  WITH RECURSIVE used (org_id, key_id, model) AS (
    SELECT k.org_id, k.key_id,
      (SELECT min(f.model) FROM usage_hour f WHERE f.org_id = k.org_id AND f.key_id = k.key_id)
    FROM (${keys}) k
    UNION ALL
    SELECT d.org_id, d.key_id, (SELECT min(n.model) FROM usage_hour n
      WHERE n.org_id = d.org_id AND n.key_id = d.key_id AND n.model > d.model)
    FROM used d WHERE d.model IS NOT NULL)
  SELECT u.key_id, u.hour / 24 AS day, ${sum}
  FROM used d ${HOURS[dialect]}
  GROUP BY u.key_id, u.hour / 24`;

/** `keys` is a SELECT of `org_id` and `key_id`; `sum` is a sum of `u.charge`. `?3` is the first hour. */
export const spentByDay = (keys: string, sum: string): Readonly<Record<SqlDialect, string>> => ({
  sqlite: spentIn("sqlite", keys, sum),
  postgresql: spentIn("postgresql", keys, sum),
});

/** Selects noted holds `h`, each with its request if that exists. */
export const notedHolds = (from: string): string => `
  SELECT h.key_id, h.request_id, r.admitted_at, r.hold, r.closed_txn
  FROM ${from} LEFT JOIN request r ON r.org_id = h.org_id AND r.request_id = h.request_id`;

/** Builds the spend from the cells of both. */
export function spendOf(days: readonly Cell[][], holds: readonly Cell[][]): LoadedKeySpend {
  const open: NotedHold[] = [];
  const ended: string[] = [];
  for (const [, requestId, admittedAt, hold, closed] of holds)
    if (admittedAt !== null && closed === null)
      open.push({ requestId: text(requestId), admittedAtMs: int(admittedAt), hold: money(hold) });
    else ended.push(text(requestId));
  return { spent: new Map(days.map(([, day, charge]) => [int(day), money(charge)])), open, ended };
}

/** PostgreSQL only, joined to the key `k`: days as `day:charge`, holds as `request:admitted:hold:ended`; `fromHour` is SQL. */
export const spendBesideKey = (fromHour: string): string => `
  SELECT
    (SELECT string_agg(d.day || ':' || d.charge, ' ') FROM (
       SELECT u.hour / 24 AS day, least(sum(u.charge), 9223372036854775807)::bigint AS charge FROM usage_hour u
       WHERE u.org_id = k.org_id AND u.key_id = k.key_id AND u.hour >= ${fromHour} GROUP BY 1) d) AS days,
    (SELECT string_agg(h.request_id || ':' || coalesce(r.admitted_at, 0) || ':' || coalesce(r.hold, 0) || ':' ||
         CASE WHEN r.closed_txn IS NULL AND r.request_id IS NOT NULL THEN '' ELSE 'ended' END, ' ')
     FROM key_hold h LEFT JOIN request r ON r.org_id = h.org_id AND r.request_id = h.request_id
     WHERE h.org_id = k.org_id AND h.key_id = k.key_id) AS holds`;

/** Parses the result of `spendBesideKey`. */
export function readSpend(days: string | null, holds: string | null): LoadedKeySpend {
  const spent = new Map<number, NanoUsd>();
  for (const [day = "", charge = ""] of fieldsOf(days)) spent.set(Number(day), nanoUsd(BigInt(charge)));
  const open: NotedHold[] = [];
  const ended: string[] = [];
  for (const [requestId = "", admitted = "", hold = "", over = ""] of fieldsOf(holds))
    if (over === "") open.push({ requestId, admittedAtMs: Number(admitted), hold: nanoUsd(BigInt(hold)) });
    else ended.push(requestId);
  return { spent, open, ended };
}

const fieldsOf = (list: string | null): string[][] =>
  (list ?? "") === "" ? [] : (list ?? "").split(" ").map((item) => item.split(":"));
