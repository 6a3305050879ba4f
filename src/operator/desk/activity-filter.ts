// What a filter of the activity page asks of both its sources: the ledger's requests, and the journal of those that
// held nothing.
import { OWNER_LOST } from "../../ledger/recovery.ts";
import type { ActivityQuery } from "../../contract/desk.ts";
import type { Sql } from "../../store/sql.ts";
import { Conditions } from "./conditions.ts";
import { requestCursor } from "./cursors.ts";
import { sinceRequest, stillRuns } from "./request-time.ts";
import type { Window } from "./windows.ts";

const IN_JOURNAL = new Set<string | undefined>(["refused", "replay"]);

/** Whether rows of this source can match. */
export const asksRequests = ({ state }: Pick<ActivityQuery, "state">): boolean => !IN_JOURNAL.has(state);
export const asksJournal = ({ state }: Pick<ActivityQuery, "state">): boolean =>
  state === undefined || IN_JOURNAL.has(state);

export interface Filter {
  organizationId: string;
  query: Pick<ActivityQuery, "state" | "key" | "model" | "code" | "cursor">;
  window: Partial<Window>;
}

export function ofRequests(sql: Sql, filter: Filter): Conditions {
  const { state, code } = filter.query;
  const conditions = common(filter).and("error_code = ?", code);
  if (state === "running") conditions.also(stillRuns(sql));
  if (state === "settled") conditions.also("state = 'settled'");
  if (state === "outcome_unknown") conditions.also("state = 'released'").and("error_code = ?", OWNER_LOST);
  if (state === "released")
    conditions.also("state = 'released'").and("(error_code IS NULL OR error_code <> ?)", OWNER_LOST);
  return conditions;
}

export const ofJournal = (filter: Filter): Conditions =>
  common(filter).and("code = ?", filter.query.code).and("kind = ?", filter.query.state);

const common = ({ organizationId, query, window: { fromMs, toMs } }: Filter): Conditions =>
  new Conditions()
    .and("org_id = ?", organizationId)
    .and("request_id < ?", requestCursor(query.cursor))
    .and("request_id >= ?", fromMs === undefined ? undefined : sinceRequest(fromMs))
    .and("request_id < ?", toMs === undefined ? undefined : sinceRequest(toMs))
    .and("key_id = ?", query.key)
    .and("model = ?", query.model);
