// The stored progress of a running request, for callers that wait for it on another gateway (money.md §8.5).
import type { PostgresStore } from "../../store/postgres.ts";
import { openChunk } from "../answer-vault.ts";
import type { StoredAnswer } from "../ledger.ts";
import { bytes, type Cell, flag, int } from "../cell.ts";
import { askNamed, namedStatement } from "./query.ts";
import { runOnPostgres } from "../../store/postgres-sql.ts";
import { findAnswer } from "../requests.ts";
import { readable } from "../unreadable.ts";

/** State and chunks are from the same instant. */
export interface Progress {
  /** A missing request was released together with the row that a failover lost; nobody runs one in quarantine. */
  state: "running" | "quarantined" | "settled" | "released";
  /** From the requested one on, in order and without gaps. */
  chunks: Uint8Array[];
  /** Set once the request has ended, if its answer is kept. */
  answer: StoredAnswer | null;
}

/** One statement, so that state and chunks are from the same instant: chunks are deleted when their request ends. */
const LOOK = namedStatement(
  "look",
  `SELECT r.state, c.seq, c.sealed, EXISTS (SELECT 1 FROM quarantine q
     WHERE q.org_id = r.org_id AND q.request_id = r.request_id AND q.decided_at IS NULL)
   FROM request r
   LEFT JOIN stream_chunk c ON c.org_id = r.org_id AND c.request_id = r.request_id AND c.seq >= $3
   WHERE r.org_id = $1 AND r.request_id = $2 ORDER BY c.seq`,
);

/** `from` is the number of chunks already known. */
export async function lookAt(
  { pool, dataKey }: Pick<PostgresStore, "pool" | "dataKey">,
  place: { organizationId: string; requestId: string },
  from: number,
): Promise<Progress> {
  const rows = await askNamed(pool, LOOK, [place.organizationId, place.requestId, from]);
  const [found] = rows;
  const state = stateOf(found?.[0], flag(found?.[3]));
  const chunks = rows
    .filter(([, seq]) => seq !== null)
    .map(([, seq, sealed]) => ({ seq: int(seq), bytes: bytes(sealed) }))
    .filter(({ seq }, index) => seq === from + index)
    .map((chunk) =>
      readable(`part ${chunk.seq} of the stream of ${place.requestId}`, () =>
        openChunk(dataKey, place, chunk),
      ),
    );
  const answer = state === "running" ? null : await runOnPostgres(pool, findAnswer(place, dataKey));
  return { state, chunks, answer };
}

function stateOf(state: Cell | undefined, quarantined: boolean): Progress["state"] {
  if (state === "admitted" || state === "dispatched") return quarantined ? "quarantined" : "running";
  return state === "settled" ? "settled" : "released";
}
