// What blocked a refused request: the requests that held credits at that moment, and when it will work again.
import type * as activityShapes from "../api/shapes/activity.ts";
import type { z } from "zod";
import { addUsd, formatUsd, ZERO_USD } from "../domain/money.ts";
import { printTime, printTimeOrNull } from "../domain/print.ts";
import { SEVERAL_KEYS } from "../domain/request-log.ts";
import { from, rowsOf } from "../store/query.ts";
import type { Sql } from "../store/sql.ts";
import type { Tables } from "../store/tables.ts";
import type { ActivityRow } from "./activity-rows.ts";
import type { LabelBook } from "./labels.ts";
import { sinceRequest } from "./request-time.ts";

type Story = NonNullable<z.output<typeof activityShapes.activityDetail>["refusal"]>;

/** Refusals that are lifted when running requests end. */
const OVER_RUNNING = new Set(["insufficient_credits", "key_spend_limit_reached", "rate_limit_exceeded"]);
/**
 * The default maximum duration of a request; longer ones are left out, so that a busy organization's day is
 * not scanned.
 */
const LOOKED_BACK_MS = 15 * 60_000;
const COUNTED = 200;
const SHOWN = 10;

/** `row` as shown on the page, `logged` as stored; null for a replay. */
export async function refusalStory(
  { sql, labels }: { sql: Sql; labels: LabelBook },
  logged: Tables["journal"],
  row: ActivityRow,
): Promise<Story | null> {
  if (row.state !== "refused") return null;
  const ran = OVER_RUNNING.has(row.code ?? "") ? await runningThen(sql, logged) : [];
  const names = await labels.keysOf(
    logged.org_id,
    ran.map(({ key_id }) => key_id),
  );
  const largest = ran.toSorted((a, b) => (a.hold < b.hold ? 1 : a.hold > b.hold ? -1 : 0)).slice(0, SHOWN);
  return {
    again_at: againAt(row, Number(logged.at)),
    running: largest.map(({ request_id, key_id, model, hold, admitted_at, ended_at }) => ({
      id: request_id,
      key: { id: key_id, name: names.get(key_id)?.name ?? key_id },
      model,
      hold_usd: formatUsd(hold),
      admitted_at: printTime(admitted_at),
      ended_at: printTimeOrNull(ended_at),
    })),
    running_requests: ran.length,
    running_usd: formatUsd(ran.reduce((sum, { hold }) => addUsd(sum, hold), ZERO_USD)),
  };
}

/** A range of the primary key: ids begin with their time. */
function runningThen(
  sql: Sql,
  { org_id, key_id, code, at }: Tables["journal"],
): Promise<
  Pick<Tables["request"], "request_id" | "key_id" | "model" | "hold" | "admitted_at" | "ended_at">[]
> {
  const atMs = Number(at);
  const ofOneKey = code === "key_spend_limit_reached" && key_id !== SEVERAL_KEYS;
  const query = from
    .selectFrom("request")
    .select(["request_id", "key_id", "model", "hold", "admitted_at", "ended_at"])
    .where("org_id", "=", org_id)
    .where("request_id", ">=", sinceRequest(atMs - LOOKED_BACK_MS))
    .where("request_id", "<", sinceRequest(atMs))
    .where("admitted_at", "<=", at)
    .where((eb) => eb.or([eb("ended_at", "is", null), eb("ended_at", ">", at)]))
    .$if(ofOneKey, (only) => only.where("key_id", "=", key_id))
    .orderBy("request_id", "desc")
    .limit(COUNTED);
  return rowsOf(sql, query);
}

/** A month's limit states its end; a rate limit states how long to wait. */
function againAt({ details }: ActivityRow, atMs: number): string | null {
  const { resets_at: resets, retry_after_ms: wait } = details ?? {};
  if (typeof resets === "string" && !Number.isNaN(Date.parse(resets))) return resets;
  return typeof wait === "number" ? printTime(BigInt(Math.floor(atMs + wait))) : null;
}
