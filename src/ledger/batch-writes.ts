// Turns what a batch decided into rows for its statements, in the order in which both stores write them (money.md §5, §11).
import { sealAnswer, sealChunk } from "./answer-vault.ts";
import type { Write } from "./column-writes.ts";
import { WRITE } from "./columns.ts";
import type { Changes } from "./rows.ts";

/** Called for each statement that has rows. */
export type WriteRows = <Row>(write: Write<Row>, rows: readonly Row[]) => void;

/** Reports every write except the lines of the audit log, which come last. */
export function eachWrite(changes: Changes, dataKey: Uint8Array, told: WriteRows): void {
  const write: WriteRows = (statement, rows) => {
    if (rows.length > 0) told(statement, rows);
  };
  write(WRITE.freeClaim, changes.claimsFreed);
  write(WRITE.noteProgress, newestOf(changes.checkpoints));
  write(WRITE.keepChunk, sealedChunks(changes.chunks, dataKey));
  write(WRITE.lowerHold, changes.lowered);
  write(WRITE.close, changes.closed);
  write(WRITE.dropChunks, changes.chunksDropped);
  write(WRITE.open, changes.opened);
  write(WRITE.takeClaim, changes.claimsTaken);
  write(WRITE.keepAnswer, sealedAnswers(changes.answers, dataKey));
  write(WRITE.keyMonth, [...changes.keyMonths]);
  write(WRITE.rateLimit, [...changes.rateLimits]);
  write(WRITE.noteHold, changes.holdsNoted);
  write(WRITE.forgetHold, changes.holdsForgotten);
  write(WRITE.usageHour, [...changes.usageHours.values()]);
  write(WRITE.entry, changes.entries);
  write(WRITE.balance, changes.balances);
  write(WRITE.topUp, changes.topUps);
  write(WRITE.reversal, changes.reversals);
  write(WRITE.endByHand, changes.endedByHand);
}

/** Keeps only the newest checkpoint of each request: one statement may not change a row twice. */
const newestOf = (checkpoints: Changes["checkpoints"]): Changes["checkpoints"] =>
  checkpoints.length < 2
    ? checkpoints
    : [...new Map(checkpoints.map((row) => [row.requestId, row])).values()];

const sealedChunks = (chunks: Changes["chunks"], dataKey: Uint8Array) =>
  chunks.map(({ organizationId, requestId, chunk }) => ({
    organizationId,
    requestId,
    seq: chunk.seq,
    sealed: sealChunk(dataKey, { organizationId, requestId }, chunk),
  }));

const sealedAnswers = (answers: Changes["answers"], dataKey: Uint8Array) =>
  answers.map(({ organizationId, answer, expiresAtMs }) => ({
    organizationId,
    requestId: answer.requestId,
    sealed: sealAnswer(dataKey, organizationId, answer),
    expiresAtMs,
  }));
