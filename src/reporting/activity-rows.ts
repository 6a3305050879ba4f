// Rows of the activity page, from the ledger's requests and from the request log of those that held nothing.
import type * as activityShapes from "../api/shapes/activity.ts";
import type { ActivityState } from "../domain/activity-states.ts";
import type { z } from "zod";
import { formatUsd, ZERO_USD } from "../domain/money.ts";
import { printTime } from "../domain/print.ts";
import type { Release } from "../domain/release.ts";
import { SEVERAL_KEYS } from "../domain/request-log.ts";
import { surfaceOfCell } from "../domain/surfaces.ts";
import { OWNER_LOST } from "../ledger/records.ts";
import { legibleClasses } from "../ledger/usage-classes.ts";
import { isSet, numberOrNull } from "../store/query.ts";
import type { Tables } from "../store/tables.ts";
import { askedOfRow } from "./held-nothing.ts";

export type ActivityRow = z.output<typeof activityShapes.activityList>["data"][number];

export const REQUEST_COLUMNS = [
  "request_id",
  "key_id",
  "model",
  "tier",
  "state",
  "stream",
  "admitted_at",
  "hold",
  "charge",
  "status",
  "error_code",
  "finish_reason",
  "prompt_tokens",
  "completion_tokens",
  "cached_tokens",
  "usage_classes",
  "first_part_ms",
  "total_ms",
  "release_digest",
  "prompt_bound",
  "output_bound",
  "answer_until",
  "claim_until",
  "surface",
] as const satisfies (keyof Tables["request"])[];
export type HeldRow = Pick<Tables["request"], (typeof REQUEST_COLUMNS)[number]>;
export type LoggedRow = Tables["journal"];

/**
 * Names for the rows of one page: keys by id, releases by digest. Missing ones are shown by id, or not at
 * all.
 */
export interface Labels {
  keys: ReadonlyMap<string, { name: string }>;
  releases: ReadonlyMap<string, Release>;
}

export function requestRow(row: HeldRow, { keys, releases }: Labels): ActivityRow {
  const release = releases.get(row.release_digest);
  return {
    id: row.request_id,
    at: printTime(row.admitted_at),
    state: stateOf(row),
    status: numberOrNull(row.status),
    code: row.error_code,
    model: row.model,
    surface: surfaceOfCell(row.surface),
    provider: release?.provider ?? null,
    region: release?.region ?? null,
    scope: row.tier === "research" ? "research" : "standard",
    key: keyLabel(row, keys),
    input_tokens: numberOrNull(row.prompt_tokens),
    cached_tokens: numberOrNull(row.cached_tokens),
    cache_write_tokens: legibleClasses(row.usage_classes)?.cacheWriteTokens ?? null,
    output_tokens: numberOrNull(row.completion_tokens),
    hold_usd: formatUsd(row.hold),
    charge_usd: formatUsd(row.charge),
    first_part_ms: numberOrNull(row.first_part_ms),
    total_ms: numberOrNull(row.total_ms),
    stream: isSet(row.stream),
    finish_reason: row.finish_reason,
    replay_of: null,
    asked: {
      prompt_tokens: Number(row.prompt_bound),
      prompt_counted: null,
      output_tokens: Number(row.output_bound),
      hold_usd: formatUsd(row.hold),
    },
    details: null,
    requests: 1,
    last_at: null,
  };
}

export const requestLogRow = (row: LoggedRow, { keys }: Labels): ActivityRow => ({
  id: row.request_id,
  at: printTime(row.at),
  state: row.kind,
  status: Number(row.status),
  code: row.code,
  model: row.model,
  surface: surfaceOfCell(row.surface),
  provider: null,
  region: null,
  scope: null,
  key: keyLabel(row, keys),
  input_tokens: null,
  cached_tokens: null,
  cache_write_tokens: null,
  output_tokens: null,
  hold_usd: formatUsd(ZERO_USD),
  charge_usd: formatUsd(ZERO_USD),
  first_part_ms: null,
  total_ms: null,
  stream: row.stream !== 0n,
  finish_reason: null,
  replay_of: row.replay_of,
  ...askedOfRow(row),
});

const keyLabel = ({ key_id: id }: { key_id: string }, keys: Labels["keys"]): ActivityRow["key"] => ({
  id,
  name: id === SEVERAL_KEYS ? "several keys" : (keys.get(id)?.name ?? id),
});

/** A complete answer has a finish reason; one that broke off, or whose caller left, has none. */
function stateOf({ state, error_code, finish_reason }: HeldRow): ActivityState {
  if (state === "settled") return finish_reason === null ? "cut_short" : "settled";
  if (state !== "released") return "running";
  return error_code === OWNER_LOST ? "outcome_unknown" : "released";
}

interface OfBoth<Held, Logged> {
  held: Held[];
  logged: Logged[];
}

/** The newest rows of both sources, before anything is looked up for them: at most so many, in either order. */
export function newestOfBoth<Held extends { request_id: string }, Logged extends { request_id: string }>(
  { held, logged }: OfBoth<Held, Logged>,
  most: number,
): OfBoth<Held, Logged> {
  const ids = [...held, ...logged].map((row) => row.request_id).toSorted();
  const last = ids.at(-most) ?? "";
  const isNewest = ({ request_id: id }: { request_id: string }): boolean => id >= last;
  return { held: held.filter(isNewest), logged: logged.filter(isNewest) };
}
