// What an organization's own recent requests showed of each model: how often it answered, how soon. Only its
// own: what others experience is private, and nobody's requests make a model look bad to somebody else.
import { DAY_MS } from "../domain/durations.ts";
import type * as catalogueShapes from "../api/shapes/catalogue.ts";
import type { z } from "zod";
import type { Clock } from "../lib/clock.ts";
import { from, rowsOf } from "../store/query.ts";
import type { Sql } from "../store/sql.ts";
import { sinceRequest } from "./request-time.ts";

type Seen = NonNullable<z.output<typeof catalogueShapes.modelList>["data"][number]["seen"]>;

export interface SeenPorts {
  sql: Sql;
  clock: Clock;
}

const SEEN_MS = 7 * DAY_MS;
/**
 * The number of requests read, in one walk along the primary key from the newest: a page open everywhere
 * costs no more with a million requests.
 */
const SEEN_AT_MOST = 2000;

/** By model; only models that have answered, or failed to. */
export async function seenOfModels(
  { sql, clock }: SeenPorts,
  organizationId: string,
): Promise<Map<string, Seen>> {
  const query = from
    .selectFrom("request")
    .select(["model", "status", "first_part_ms"])
    .where("org_id", "=", organizationId)
    .where("request_id", ">=", sinceRequest(clock.nowMs() - SEEN_MS))
    .orderBy("request_id", "desc")
    .limit(SEEN_AT_MOST);
  const ended = (await rowsOf(sql, query)).filter(({ status }) => status !== null);
  return new Map(
    [...Map.groupBy(ended, ({ model }) => model)].map(([model, requests]) => {
      const answered = requests.filter(({ status }) => status !== null && status < 500n).length;
      const times = requests
        .flatMap(({ first_part_ms: ms }) => (ms === null || ms < 0n ? [] : Number(ms)))
        .toSorted((a, b) => a - b);
      return [
        model,
        {
          requests: requests.length,
          uptime: answered / requests.length,
          first_part_ms_p50: times[Math.floor(times.length / 2)] ?? null,
        },
      ];
    }),
  );
}
