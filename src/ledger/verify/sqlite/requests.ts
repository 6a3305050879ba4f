// Reads every request and stored answer for the audit, one row at a time (money.md §5).
import type { Database } from "bun:sqlite";
import type { Evidence } from "../../../domain/gateway-object.ts";
import type { Release } from "../../../domain/release.ts";
import { auditAnswer, auditCharge, type AuditedRequest, auditTimes, releaseOr } from "../requests.ts";
import type { Findings } from "../findings.ts";
import { bytes, type Cell, flag, int, intOrNull, money, text, textOrNull } from "../../sqlite/cell.ts";
import { runOnSqlite } from "../../../store/sqlite-sql.ts";
import { findRelease } from "../../frozen-release.ts";
import { attemptsIn } from "../../unreadable.ts";

export interface RequestAudit {
  dataKey: Uint8Array;
  nowMs: number;
}

export function auditRequests(
  database: Database,
  findings: Findings,
  { dataKey, nowMs }: RequestAudit,
): void {
  const releaseOf = releases(database);
  const rows = database
    .query(
      `SELECT org_id, request_id, state, hold, request.charge, variance, minimum_applied, evidence, prompt_tokens,
         completion_tokens, cached_tokens, release_digest, admitted_at, deadline_at, attempts,
         q.decided_at IS NULL AND q.since IS NOT NULL AS open, q.charge AS by_hand
       FROM request LEFT JOIN quarantine q USING (org_id, request_id)`,
    )
    .iterate() as unknown as Iterable<Record<string, Cell>>;
  for (const record of rows) {
    const request = auditedRequestOf(Object.values(record));
    auditCharge(findings, request, request.state === "settled" ? releaseOf(request.releaseDigest) : null);
    auditTimes(findings, request, nowMs);
  }
  auditAnswers(database, findings, dataKey);
}

/** Frozen releases by digest, each read once. */
function releases(database: Database): (digest: string) => Release | null {
  const known = new Map<string, Release | null>();
  return (digest) => {
    let release = known.get(digest);
    if (release === undefined) {
      release = releaseOr(() => runOnSqlite(database, findRelease(digest)));
      known.set(digest, release);
    }
    return release;
  };
}

function auditedRequestOf(row: Cell[]): AuditedRequest {
  const state = text(row[2]);
  return {
    organizationId: text(row[0]),
    requestId: text(row[1]),
    state: state === "settled" || state === "released" ? state : "unfinished",
    hold: money(row[3]),
    charge: money(row[4]),
    variance: money(row[5]),
    minimumApplied: flag(row[6]),
    evidence: textOrNull(row[7]) as Evidence | null,
    promptTokens: intOrNull(row[8]),
    completionTokens: intOrNull(row[9]),
    cachedTokens: intOrNull(row[10]),
    releaseDigest: text(row[11]),
    admittedAtMs: int(row[12]),
    deadlineAtMs: int(row[13]),
    attempts: attemptsIn(text(row[14])),
    quarantined: flag(row[15]) && state === "dispatched",
    chargedByHand: row[16] === null ? null : money(row[16]),
  };
}

function auditAnswers(database: Database, findings: Findings, dataKey: Uint8Array): void {
  const rows = database
    .query(
      `SELECT result.org_id, result.request_id, result.sealed, request.charge, request.state FROM result
       JOIN request ON request.org_id = result.org_id AND request.request_id = result.request_id`,
    )
    .iterate() as unknown as Iterable<Record<string, Cell>>;
  for (const record of rows) {
    const [organizationId, requestId, sealed, charge, state] = Object.values(record);
    const answer = {
      organizationId: text(organizationId),
      requestId: text(requestId),
      sealed: bytes(sealed),
      charge: text(state) === "settled" ? money(charge) : null,
    };
    auditAnswer(findings, answer, dataKey);
  }
}
