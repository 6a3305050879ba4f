// Reads every request and stored answer for the verification, one row at a time (money.md §5).
import type { Database } from "bun:sqlite";
import type { Release } from "../../../domain/release.ts";
import {
  answerToVerify,
  checkAnswer,
  checkCharge,
  requestToVerify,
  checkTimes,
  releaseOr,
} from "../requests.ts";
import type { Findings } from "../findings.ts";
import type { Cell } from "../../cell.ts";
import { selected } from "../../column-loads.ts";
import { TO_VERIFY } from "../../columns.ts";
import { runOnSqlite } from "../../../store/sqlite-sql.ts";
import { findRelease } from "../../frozen-release.ts";

/** I4, I7 to I9, I11 and I13 of every request, then the stored answers. */
export function checkRequests(
  database: Database,
  findings: Findings,
  { dataKey, nowMs }: { dataKey: Uint8Array; nowMs: number },
): void {
  const releaseOf = releases(database);
  const rows = database
    .query(
      `SELECT ${selected(TO_VERIFY, "r")}, q.decided_at IS NULL AND q.since IS NOT NULL AS waits, q.charge AS by_hand
       FROM request r LEFT JOIN quarantine q ON q.org_id = r.org_id AND q.request_id = r.request_id`,
    )
    .iterate() as unknown as Iterable<Record<string, Cell>>;
  for (const record of rows) {
    const request = requestToVerify(Object.values(record));
    checkCharge(findings, request, request.state === "settled" ? releaseOf(request.releaseDigest) : null);
    checkTimes(findings, request, nowMs);
  }
  checkAnswers(database, findings, dataKey);
}

/** Returns frozen releases by digest, reading each once. */
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

function checkAnswers(database: Database, findings: Findings, dataKey: Uint8Array): void {
  const rows = database
    .query(
      `SELECT result.org_id, result.request_id, result.sealed, request.charge, request.state FROM result
       LEFT JOIN request ON request.org_id = result.org_id AND request.request_id = result.request_id`,
    )
    .iterate() as unknown as Iterable<Record<string, Cell>>;
  for (const row of rows) checkAnswer(findings, answerToVerify(Object.values(row)), dataKey);
}
