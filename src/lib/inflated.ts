// Decompresses what an upstream compressed although it was asked not to, piece by piece as it is read. The HTTP client
// could do it, but it runs ahead of the reader: 400 MB out of some hundred bytes that arrived with the response's head.
import { Readable, pipeline } from "node:stream";
import { createBrotliDecompress, createUnzip, createZstdDecompress } from "node:zlib";

/** The maximum size of one piece. */
const PIECE = { chunkSize: 64 * 1024 };

/** Codings by their name in `content-encoding`; a list of several matches none and stays unreadable. */
const DECODERS = new Map([
  ["gzip", () => createUnzip(PIECE)],
  ["x-gzip", () => createUnzip(PIECE)],
  ["deflate", () => createUnzip(PIECE)],
  ["br", () => createBrotliDecompress(PIECE)],
  ["zstd", () => createZstdDecompress(PIECE)],
]);

/**
 * The decompressed response of a fetch with `decompress: false`; the response itself if there is nothing to
 * decompress. Errors of either side appear on the body, and cancelling the body cancels both.
 */
export function inflated(reply: Response): Response {
  const coding = reply.headers.get("content-encoding");
  if (coding === null || reply.body === null) return reply;
  const decoder = DECODERS.get(coding.trim().toLowerCase())?.();
  if (decoder === undefined) return reply;
  const { status, headers } = reply;
  pipeline(Readable.fromWeb(reply.body), decoder, () => {}); // the decoder reports errors to the reader
  return new Response(Readable.toWeb(decoder), { status, headers });
}
