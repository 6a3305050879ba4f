// Rows of the activity page, from the ledger's requests and from the journal of those that held nothing.
import type { AppAnswer } from "../../contract/app.ts";
import { formatUsd, ZERO_USD } from "../../contract/money.ts";
import type { Release } from "../../contract/release.ts";
import { OWNER_LOST } from "../../ledger/recovery.ts";
import { moneyOf, numberOf, orNull, type SqlRow, textOf } from "../../store/sql.ts";

export type ActivityRow = AppAnswer<"GET /orgs/{org}/activity">["data"][number];

/** Both sources under one set of names; what a journal entry does not have is null. */
export const REQUEST_COLUMNS = `request_id, key_id, model, tier, state, stream, admitted_at AS at, hold, charge, status,
  error_code, finish_reason, prompt_tokens, completion_tokens, cached_tokens, first_part_ms, total_ms, release_digest`;
export const JOURNAL_COLUMNS = "request_id, key_id, kind, at, status, code, model, stream, replay_of";

export interface Labels {
  keys: ReadonlyMap<string, string>;
  releases: ReadonlyMap<string, Release>;
}

const time = (value: unknown): string => new Date(numberOf(value)).toISOString();
const isSet = (value: unknown): boolean => value === true || (value !== false && numberOf(value) !== 0);

export function requestRow(row: SqlRow, { keys, releases }: Labels): ActivityRow {
  const release = releases.get(textOf(row["release_digest"]));
  const code = orNull(row["error_code"], textOf);
  return {
    id: textOf(row["request_id"]),
    at: time(row["at"]),
    state: stateOf(textOf(row["state"]), code),
    status: orNull(row["status"], numberOf),
    code,
    model: textOf(row["model"]),
    provider: release?.provider ?? null,
    region: release?.region ?? null,
    scope: textOf(row["tier"]) === "research" ? "research" : "standard",
    key: keyLabel(row, keys),
    input_tokens: orNull(row["prompt_tokens"], numberOf),
    cached_tokens: orNull(row["cached_tokens"], numberOf),
    output_tokens: orNull(row["completion_tokens"], numberOf),
    hold_usd: formatUsd(moneyOf(row["hold"])),
    charge_usd: formatUsd(moneyOf(row["charge"])),
    first_part_ms: orNull(row["first_part_ms"], numberOf),
    total_ms: orNull(row["total_ms"], numberOf),
    stream: isSet(row["stream"]),
    finish_reason: orNull(row["finish_reason"], textOf),
    replay_of: null,
  };
}

export const journalRow = (row: SqlRow, { keys }: Labels): ActivityRow => ({
  id: textOf(row["request_id"]),
  at: time(row["at"]),
  state: textOf(row["kind"]) === "replay" ? "replay" : "refused",
  status: numberOf(row["status"]),
  code: orNull(row["code"], textOf),
  model: orNull(row["model"], textOf),
  provider: null,
  region: null,
  scope: null,
  key: keyLabel(row, keys),
  input_tokens: null,
  cached_tokens: null,
  output_tokens: null,
  hold_usd: formatUsd(ZERO_USD),
  charge_usd: formatUsd(ZERO_USD),
  first_part_ms: null,
  total_ms: null,
  stream: isSet(row["stream"]),
  finish_reason: null,
  replay_of: orNull(row["replay_of"], textOf),
});

function keyLabel(row: SqlRow, keys: Labels["keys"]): ActivityRow["key"] {
  const id = textOf(row["key_id"]);
  return { id, name: keys.get(id) ?? id };
}

function stateOf(state: string, code: string | null): ActivityRow["state"] {
  if (state === "settled") return "settled";
  if (state !== "released") return "running";
  return code === OWNER_LOST ? "outcome_unknown" : "released";
}
