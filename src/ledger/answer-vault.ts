// Stored answers at rest: sealed under the data key and bound to their organization, request and
// position in it (hardening.md S31, S32).
import { openBytes, sealBytes } from "../lib/seal.ts";
import type { StoredAnswer } from "./ledger.ts";

/** The maximum size of one stored answer (money.md §8.10). */
export const STORED_ANSWER_BYTES_MAX = 8 * 1024 * 1024;

type Place = { organizationId: string; requestId: string };
type Chunk = { seq: number; bytes: Uint8Array };

const ofAnswer = ({ organizationId, requestId }: Place): string => `${organizationId}|${requestId}`;
const ofChunk = (place: Place, seq: number): string => `${ofAnswer(place)}|${seq}`;

/** Seals status and headers as one line of JSON, followed by the exact bytes of the body. */
export function sealAnswer(dataKey: Uint8Array, organizationId: string, answer: StoredAnswer): Uint8Array {
  const { requestId, status, headers, body } = answer;
  const head = Buffer.from(`${JSON.stringify({ status, headers })}\n`);
  return sealBytes(dataKey, ofAnswer({ organizationId, requestId }), [head, body]);
}

/** Throws if the bytes were changed, or belong to another request or another key. */
export function openAnswer(dataKey: Uint8Array, place: Place, sealed: Uint8Array): StoredAnswer {
  const plain = openBytes(dataKey, ofAnswer(place), sealed);
  const headEnd = plain.indexOf(0x0a);
  const head = JSON.parse(plain.subarray(0, headEnd).toString()) as Pick<StoredAnswer, "status" | "headers">;
  return { requestId: place.requestId, ...head, body: new Uint8Array(plain.subarray(headEnd + 1)) };
}

/** Seals one chunk of a running stream. */
export const sealChunk = (dataKey: Uint8Array, place: Place, { seq, bytes }: Chunk): Uint8Array =>
  sealBytes(dataKey, ofChunk(place, seq), [bytes]);

/** Throws as `openAnswer` does, and also for bytes from another position in the stream. */
export const openChunk = (dataKey: Uint8Array, place: Place, chunk: Chunk): Uint8Array =>
  openBytes(dataKey, ofChunk(place, chunk.seq), chunk.bytes);

/** The replacement of one data key by another. */
export interface KeyChange {
  from: Uint8Array;
  to: Uint8Array;
}

/** Reseals an answer (`seq` null) or a stream chunk. Throws if the old key does not open it. */
export const resealed = (
  { from, to }: KeyChange,
  { seq, ...place }: Place & { seq: number | null },
  sealed: Uint8Array,
): Uint8Array => {
  const where = seq === null ? ofAnswer(place) : ofChunk(place, seq);
  return sealBytes(to, where, [openBytes(from, where, sealed)]);
};
