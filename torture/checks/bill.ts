// The provider's bill against the ledger: nothing runs without a hold, nothing runs twice, and every call is charged
// or has a reason for not being charged (money.md I18).
import type { Check, Evidence, Violation } from "../evidence.ts";
import { touches } from "../history.ts";
import { modelNamed, tellsEarly } from "../models.ts";
import type { BilledCall } from "../simulator-process.ts";
import type { RequestRow } from "../store.ts";

export const bill: Check = (evidence) => {
  const { found, rows } = evidence;
  const strangers = found.bill
    .filter(({ request_id }) => !rows.has(request_id ?? ""))
    .map((call) => ({ broken: "a provider was called without a durable hold", facts: { call } }));
  return [...strangers, ...perClaim(evidence), ...found.rows.flatMap((row) => perRequest(evidence, row))];
};

/** At most one billed call for all requests that ever had this caller's key. */
function perClaim({ found, calls }: Evidence): Violation[] {
  const keyed = found.rows.filter(({ idempotencyKey }) => idempotencyKey !== null);
  const claims = Map.groupBy(keyed, ({ keyId, idempotencyKey }) => `${keyId} ${idempotencyKey}`);
  return [...claims].flatMap(([claim, requests]) => {
    const billed = requests.flatMap(({ requestId }) =>
      (calls.get(requestId) ?? []).filter((call) => call.billed),
    );
    if (billed.length <= 1) return [];
    return [
      { broken: "one idempotency key was billed twice by the provider", facts: { claim, billed, requests } },
    ];
  });
}

function perRequest({ found, calls }: Evidence, row: RequestRow): Violation[] {
  const mine = calls.get(row.requestId) ?? [];
  const billed = mine.filter((call) => call.billed);
  const wrong = (broken: string): Violation[] => [{ broken, facts: { row, calls: mine } }];
  if (billed.length > 1) return wrong("one request was billed twice by the provider");
  if (new Set(mine.map(({ attempt }) => attempt)).size < mine.length)
    return wrong("one attempt was sent twice");
  const [call] = billed;
  if (row.state === "settled")
    return call === undefined ? wrong("a charge without a call on the bill") : agree(row, call, wrong);
  if (call?.outcome !== "finished" || isExplained(found.history, row)) return [];
  return wrong("a finished call on the bill was not charged, and nothing explains it");
}

type Wrong = (broken: string) => Violation[];

function agree(row: RequestRow, call: BilledCall, wrong: Wrong): Violation[] {
  const model = modelNamed(row.model);
  const { misreports = false, name } = model;
  if (row.evidence === "provider_usage" && !misreports) {
    const told = row.toldTokens ?? (row.promptTokens ?? 0) + (row.completionTokens ?? 0);
    const made = call.prompt_tokens + call.completion_tokens;
    const partly = call.outcome === "cut" && tellsEarly(model, call.model);
    const same = partly ? told <= made : told === made;
    const prompt = row.toldTokens !== null || row.promptTokens === call.prompt_tokens;
    return same && prompt ? [] : wrong("the tokens charged are not those of the bill");
  }
  const more = row.evidence === "delivered_tokens" && (row.completionTokens ?? 0) > call.completion_tokens;
  return more && name !== "doubled"
    ? wrong("more tokens were charged as delivered than the provider made")
    : [];
}

/**
 * Why a request that ran may cost nothing: its gateway died, its provider's answer was bad, or its client left early.
 */
function isExplained(history: Evidence["found"]["history"], row: RequestRow): boolean {
  const until = row.endedAtMs ?? Date.now();
  if (row.errorCode === "owner_lost") return touches(history.downs, row.admittedAtMs, until);
  if (row.errorCode === "client_left") return row.idempotencyKey === null;
  const disturbed = [...history.pauses, ...history.downs];
  return !modelNamed(row.model).sound || touches(disturbed, row.admittedAtMs, until);
}
