// Unfinished requests that have no owner any more, with what their last checkpoint kept: whose instance is condemned, or
// who passed their time by so much that their owner has given up (money.md §9).
import { openChunk } from "./answer-vault.ts";
import type { RequestRecord } from "./ledger.ts";
import { bytes, type Cell, int } from "./postgres-cell.ts";
import { type Asking, askOnce } from "./postgres-query.ts";
import { findRelease } from "./postgres-releases.ts";
import { REQUEST_COLUMNS, requestRecordOf } from "./postgres-requests.ts";
import type { Orphan } from "./recovery.ts";

/** Recovery of many holds their chunks in memory. */
const ORPHANS_AT_ONCE = 200;
/** An owner ends its request at its deadline; one that has not by then, and waits for no commit, never will. */
const OWN_LATE_MS = 60_000;
/** Long enough for any owner elsewhere to be told, and to ask a provider what became of it. */
const FOREIGN_LATE_MS = 15 * 60_000;

export interface OrphansPorts {
  dataKey: Uint8Array;
  /** Numbers of this process. */
  own: readonly number[];
  /** By the clock that deadlines were stamped with. */
  nowMs: number;
}

/** `sent` false: provably never sent to a provider. */
export type Found = Orphan & { dispatched: boolean };

export async function findOrphans(on: Asking, { dataKey, own, nowMs }: OrphansPorts): Promise<Found[]> {
  const rows = await askOnce(
    on,
    `SELECT ${REQUEST_COLUMNS}, epoch, delivered_tokens FROM request
     WHERE closed_txn IS NULL AND (
       NOT EXISTS (SELECT 1 FROM instance i WHERE i.epoch = request.epoch AND NOT i.condemned)
       OR deadline_at < (CASE WHEN epoch = ANY($1::bigint[]) THEN $2::bigint ELSE $3::bigint END))
     LIMIT ${ORPHANS_AT_ONCE}`,
    [own, nowMs - OWN_LATE_MS, nowMs - FOREIGN_LATE_MS],
  );
  return Promise.all(rows.map((row) => orphanOf(on, row, dataKey)));
}

async function orphanOf(on: Asking, row: Cell[], dataKey: Uint8Array): Promise<Found> {
  const record = requestRecordOf(row);
  const [epoch, deliveredTokens = null] = row.slice(29);
  const found = { record, epoch: int(epoch), dispatched: row[6] === "dispatched" };
  if (deliveredTokens === null) return { ...found, progress: null, sent: new Uint8Array() };
  const release = await findRelease(on, record.releaseDigest);
  if (release === null) throw new Error(`release ${record.releaseDigest} is not there`);
  const progress = { promptTokens: int(row[16]), deliveredTokens: int(deliveredTokens), release };
  return { ...found, progress, sent: await sentOf(on, record, dataKey) };
}

/** The chunks in order, up to the first that is missing. */
async function sentOf(
  on: Asking,
  { organizationId, requestId }: RequestRecord,
  dataKey: Uint8Array,
): Promise<Uint8Array> {
  const rows = await askOnce(
    on,
    "SELECT seq, sealed FROM stream_chunk WHERE org_id = $1 AND request_id = $2 ORDER BY seq",
    [organizationId, requestId],
  );
  const whole = rows
    .map(([seq, sealed]) => ({ seq: int(seq), bytes: bytes(sealed) }))
    .filter(({ seq }, index) => seq === index);
  return Buffer.concat(whole.map((chunk) => openChunk(dataKey, { organizationId, requestId }, chunk)));
}
