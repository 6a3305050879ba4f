// What waits for an operator: organizations whose credits are nearly used up, the soonest first, and requests
// for Research Mode, the oldest first.
import { sql as fragment } from "kysely";
import type { z } from "zod";
import type * as homeShapes from "../api/shapes/home.ts";
import { DAY_MS, HOUR_MS } from "../domain/durations.ts";
import { formatUsd, nanoUsd, ZERO_USD } from "../domain/money.ts";
import { printTime } from "../domain/print.ts";
import type { Clock } from "../lib/clock.ts";
import { exact } from "../store/exact-sum.ts";
import { exactTotal, from, rowsOf } from "../store/query.ts";
import { inHundreds, type Sql } from "../store/sql.ts";
import { BURN_DAYS, CREDIT_DAYS_MIN } from "./credit-pace.ts";
import { hoursUsedByAll } from "./hours-used.ts";

type Row = z.output<typeof homeShapes.homeWaiting>["data"][number];

interface WaitingPorts {
  sql: Sql;
  clock: Clock;
}

const SHOWN = 20;
const NEITHER = { model: null, available_usd: null, burn_usd_per_day: null, since: null };

/** The shortest credits first, then all undecided requests. */
export async function waitingNow(on: WaitingPorts): Promise<Row[]> {
  return [...(await lowOnCredits(on)).slice(0, SHOWN), ...(await askedForResearch(on.sql))];
}

/**
 * The same rule as the warning on an organization's overview: the daily spend of the last days. An
 * organization without spend needs nothing.
 */
async function lowOnCredits({ sql, clock }: WaitingPorts): Promise<Row[]> {
  const first = Math.floor((clock.nowMs() - BURN_DAYS * DAY_MS) / HOUR_MS);
  const spent = hoursUsedByAll(sql, { first })
    .groupBy("org_id")
    .select((eb) => ["org_id", exactTotal(eb.ref("charge")).as("charge")]);
  const pace = new Map(
    (await rowsOf(sql, spent)).map((row) => [row.org_id, nanoUsd(exact(row.charge) / BigInt(BURN_DAYS))]),
  );
  const low: { hours: bigint; row: Row }[] = [];
  for (const ids of inHundreds([...pace.keys()])) {
    const balances = from
      .selectFrom("organization")
      .innerJoin("org_balance", (join) =>
        join.onRef("org_balance.org_id", "=", "organization.org_id").on("slot", "=", 0n),
      )
      .where("organization.org_id", "in", ids)
      .select(["organization.org_id", "name", "available"]);
    for (const { org_id, name, available } of await rowsOf(sql, balances)) {
      const burn = pace.get(org_id) ?? ZERO_USD;
      if (burn === 0n || available >= burn * CREDIT_DAYS_MIN) continue;
      const row = { ...NEITHER, kind: "credits" as const, id: org_id, org: org_id, org_name: name };
      const figures = { available_usd: formatUsd(available), burn_usd_per_day: formatUsd(burn) };
      low.push({ hours: (available * 24n) / burn, row: { ...row, ...figures } });
    }
  }
  return low
    .toSorted((a, b) => Number(a.hours - b.hours) || (a.row.id < b.row.id ? -1 : 1))
    .map(({ row }) => row);
}

async function askedForResearch(sql: Sql): Promise<Row[]> {
  const query = from
    .selectFrom("entitlement")
    .innerJoin("organization", "organization.org_id", "entitlement.org_id")
    // A literal, because the index of these rows is partial.
    .where("state", "=", fragment.lit("requested"))
    .select(["id", "model", "entitlement.org_id", "name", "entitlement.created_at"])
    .orderBy("entitlement.created_at")
    .orderBy("id")
    .limit(SHOWN);
  return (await rowsOf(sql, query)).map(({ id, model, org_id, name, created_at }) => ({
    ...NEITHER,
    kind: "entitlement",
    id,
    org: org_id,
    org_name: name,
    model,
    since: printTime(created_at),
  }));
}
