// The results of requests, the same on both stores: their records, and the answers kept under callers' keys.
import { EVIDENCE, type Evidence, type Tier } from "../domain/gateway-object.ts";
import { FIRST_SURFACE } from "../domain/surfaces.ts";
import { ask, bytesOf, type Query, type SqlRow } from "../store/sql.ts";
import { openAnswer } from "./answer-vault.ts";
import { selected } from "./column-loads.ts";
import { RECORD } from "./columns.ts";
import type { StoredAnswer } from "./ledger.ts";
import { type AttemptRecord, OWNER_LOST, type RequestRecord } from "./records.ts";
import { attemptsIn, readable } from "./unreadable.ts";
import { classesIn } from "./usage-classes.ts";

const SELECT = `SELECT ${selected(RECORD, "r")} FROM request r WHERE r.request_id = ?1`;
/** The primary key begins with the organization: one seek for each, instead of an index entry per request. */
const FIND = {
  sqlite: `${SELECT} AND r.org_id IN (SELECT org_id FROM organization)`,
  postgresql: `${SELECT} AND r.org_id = ANY (ARRAY(SELECT org_id FROM organization))`,
};

/** Finds a request without knowing its organization. Throws `UnreadableRecord` for a damaged one. */
export function* findRequest(requestId: string): Query<RequestRecord | null> {
  const [row] = yield* ask(FIND, [requestId]);
  return row === undefined ? null : readable(`the record of request ${requestId}`, () => requestOf(row));
}

/** Returns the stored length of an answer, without reading it; 0 if it is not kept. */
export function* answerLength(place: { organizationId: string; requestId: string }): Query<number> {
  const [row] = yield* ask(
    "SELECT length(sealed) AS bytes FROM result WHERE org_id = ?1 AND request_id = ?2",
    [place.organizationId, place.requestId],
  );
  return Number(row?.["bytes"] ?? 0);
}

/** Returns null if it is not kept. Throws `UnreadableRecord` for a damaged one. */
export function* findAnswer(
  place: { organizationId: string; requestId: string },
  dataKey: Uint8Array,
): Query<StoredAnswer | null> {
  const [row] = yield* ask("SELECT sealed FROM result WHERE org_id = ?1 AND request_id = ?2", [
    place.organizationId,
    place.requestId,
  ]);
  if (row === undefined) return null;
  return readable(`the stored answer of ${place.requestId}`, () =>
    openAnswer(dataKey, place, bytesOf(row["sealed"])),
  );
}

function requestOf(found: SqlRow): RequestRecord {
  const { promptTokens, completionTokens, cachedTokens, reasoningTokens, usageClasses, ...row } =
    RECORD.named(found);
  return {
    ...row,
    tier: row.tier as Tier,
    surface: row.surface ?? FIRST_SURFACE,
    researchMode: row.tier === "research",
    state: stateOf(row.state, row.errorCode),
    evidence: row.evidence === null ? null : evidenceOf(row.evidence),
    // Null while it runs, though a checkpoint may have noted its prompt.
    usage:
      promptTokens === null || completionTokens === null
        ? null
        : { promptTokens, completionTokens, cachedTokens, reasoningTokens, ...classesIn(usageClasses) },
    attempts: attemptsOf(row.attempts),
  };
}

/** Validated because it is printed as it stands, on receipts and in answers. */
function evidenceOf(cell: string): Evidence {
  const found = EVIDENCE.find((evidence) => evidence === cell);
  if (found === undefined) throw new Error("its evidence is not a known kind");
  return found;
}

function attemptsOf(printed: string): AttemptRecord[] {
  const attempts = attemptsIn(printed);
  if (attempts === null) throw new Error("its attempts are not a list");
  return attempts;
}

function stateOf(state: string, errorCode: string | null): RequestRecord["state"] {
  if (state === "admitted" || state === "dispatched") return "running";
  if (state === "settled") return "settled";
  return errorCode === OWNER_LOST ? "outcome_unknown" : "released";
}
