// An unfinished request without an owner, with the contents of its last checkpoint; the same on both stores.
import { ask, bytesOf, numberOf, type Query } from "../store/sql.ts";
import { openChunk } from "./answer-vault.ts";
import { findRelease } from "./frozen-release.ts";
import type { RequestRecord } from "./records.ts";
import type { Orphan, Unowned } from "./recovery.ts";
import { findRequest } from "./requests.ts";
import { readable } from "./unreadable.ts";

/** Throws if its last checkpoint cannot be read. */
export function* readOrphan(
  { organizationId, requestId, epoch }: Unowned,
  dataKey: Uint8Array,
): Query<Orphan> {
  const record = yield* findRequest(requestId);
  if (record === null) throw new Error(`request ${requestId} has no record`);
  const [row] = yield* ask(
    "SELECT prompt_tokens, delivered_tokens FROM request WHERE org_id = ?1 AND request_id = ?2",
    [organizationId, requestId],
  );
  if (row === undefined || row["delivered_tokens"] === null)
    return { record, epoch, progress: null, sent: new Uint8Array() };
  const release = yield* findRelease(record.releaseDigest);
  if (release === null) throw new Error(`release ${record.releaseDigest} is missing`);
  const [promptTokens, deliveredTokens] = [numberOf(row["prompt_tokens"]), numberOf(row["delivered_tokens"])];
  return {
    record,
    epoch,
    progress: { promptTokens, deliveredTokens, release },
    sent: yield* sentOf(record, dataKey),
  };
}

/** Returns the chunks in order, up to the first missing one. */
function* sentOf({ organizationId, requestId }: RequestRecord, dataKey: Uint8Array): Query<Uint8Array> {
  const rows = yield* ask(
    "SELECT seq, sealed FROM stream_chunk WHERE org_id = ?1 AND request_id = ?2 ORDER BY seq",
    [organizationId, requestId],
  );
  const whole = rows
    .map((row) => ({ seq: numberOf(row["seq"]), bytes: bytesOf(row["sealed"]) }))
    .filter(({ seq }, index) => seq === index);
  return Buffer.concat(
    whole.map((chunk) =>
      readable(`part ${chunk.seq} of the stream of ${requestId}`, () =>
        openChunk(dataKey, { organizationId, requestId }, chunk),
      ),
    ),
  );
}
