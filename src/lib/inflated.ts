// What an upstream compressed though it was told not to: decompressed here, piece by piece as it is read. The HTTP client
// would do it too, but ahead of whoever reads: 400 MB out of some hundred bytes that arrived with the reply's head.
import { Readable, pipeline } from "node:stream";
import { createBrotliDecompress, createUnzip, createZstdDecompress } from "node:zlib";

/** Of one piece at most. */
const PIECE = { chunkSize: 64 * 1024 };

/** Codings by their name in `content-encoding`; a list of several is none of them, and stays unreadable. */
const DECODERS = new Map([
  ["gzip", () => createUnzip(PIECE)],
  ["x-gzip", () => createUnzip(PIECE)],
  ["deflate", () => createUnzip(PIECE)],
  ["br", () => createBrotliDecompress(PIECE)],
  ["zstd", () => createZstdDecompress(PIECE)],
]);

/**
 * The reply of a fetch with `decompress: false` as its reader wants it: itself where nothing is to be decompressed. Errors of
 * either side are the body's, and whoever cancels it cancels both.
 */
export function inflated(reply: Response): Response {
  const coding = reply.headers.get("content-encoding");
  if (coding === null || reply.body === null) return reply;
  const decoder = DECODERS.get(coding.trim().toLowerCase())?.();
  if (decoder === undefined) return reply;
  const { status, headers } = reply;
  pipeline(Readable.fromWeb(reply.body), decoder, () => {}); // whoever reads is told by the decoder
  return new Response(Readable.toWeb(decoder), { status, headers });
}
