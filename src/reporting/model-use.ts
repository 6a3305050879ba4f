// The organizations that used a model in the last thirty days: those affected by a price change. From the
// hourly roll-ups, which record models but not routes: docs/decisions/0044-a-catalogue-that-proposes.md.
import { HOUR_MS } from "../domain/durations.ts";
import type { z } from "zod";
import type { modelUseSchema } from "../api/shapes/price.ts";
import { formatUsd } from "../domain/money.ts";
import { printSum, printTime } from "../domain/print.ts";
import type { Clock } from "../lib/clock.ts";
import { exact, exactUsd } from "../store/exact-sum.ts";
import { exactTotal, from, magnitude, rowsOf, theRow } from "../store/query.ts";
import type { Sql } from "../store/sql.ts";
import { organizationNames } from "./organization-names.ts";

const HOURS = 30 * 24;
const NAMED_MAX = 20;

export type ModelUse = z.output<typeof modelUseSchema>;

/** Requests, charges and organizations of the last 720 hours, in whole hours. */
export async function modelUse({ sql, clock }: { sql: Sql; clock: Clock }, model: string): Promise<ModelUse> {
  const first = Math.floor(clock.nowMs() / HOUR_MS) - HOURS;
  // Key by key: the hours of one key and model are adjacent. A CROSS JOIN keeps this order in SQLite.
  const used = from
    .selectFrom("api_key")
    .crossJoin("usage_hour")
    .whereRef("usage_hour.org_id", "=", "api_key.org_id")
    .whereRef("usage_hour.key_id", "=", "api_key.key_id")
    .where("model", "=", model)
    .where("hour", ">=", BigInt(first));
  const total = await theRow(
    sql,
    used.select((eb) => [
      eb.fn.count<bigint>("usage_hour.org_id").distinct().as("organizations"),
      exactTotal(eb.ref("requests")).as("counted"),
      exactTotal(eb.ref("charge")).as("spent"),
    ]),
  );
  const rows = await rowsOf(
    sql,
    used
      .groupBy("usage_hour.org_id")
      .select((eb) => [
        "usage_hour.org_id",
        exactTotal(eb.ref("requests")).as("counted"),
        exactTotal(eb.ref("charge")).as("spent"),
      ])
      .orderBy((eb) => magnitude(eb.ref("requests")), "desc")
      .orderBy("usage_hour.org_id")
      .limit(NAMED_MAX),
  );
  const names = await organizationNames(
    sql,
    rows.map((row) => row.org_id),
  );
  return {
    model,
    since: printTime(first * HOUR_MS),
    organizations: Number(total.organizations),
    requests: printSum(exact(total.counted)),
    charge_usd: formatUsd(exactUsd(total.spent)),
    data: rows.map(({ org_id, counted, spent }) => ({
      org: org_id,
      name: names.get(org_id) ?? org_id,
      requests: printSum(exact(counted)),
      charge_usd: formatUsd(exactUsd(spent)),
    })),
  };
}
