// Answers that come before their request's body has ended. The HTTP parser below us closes a connection that is not kept alive as
// soon as it is answered, and a system that still receives bytes then resets it, so that the client, or its proxy, never reads the
// answer. Chunks cost the parser time each, however small, so a connection ends if chunks continue after an answer.
import { giveBack } from "./give-back.ts";
import { tooManyPieces } from "./pieces.ts";

/** For how long the rest of such a body is read, milliseconds: as long as a whole body may take. */
const LINGER_MS = 30_000;
/** After this much silence the rest is not expected before the answer. */
const SILENCE_MS = 2_000;

const CLOSES = /(?:^|,)\s*close\s*(?:,|$)/i;

/** For a body that is discarded; each piece takes a microsecond. */
const FREE_PIECES = 1_024;

export const isChunked = ({ headers }: Request): boolean => headers.has("transfer-encoding");

/**
 * Resolves when an answer can be sent so that it arrives. If the connection ends with the answer, or the body comes in chunks, that
 * is after the body, which is read and discarded; otherwise at once, because the parser drops the rest. False: chunks are still to
 * come, so the connection must end with the answer. Never rejects.
 */
export async function bodyPassed({ headers, bodyUsed, body }: Request, chunked: boolean): Promise<boolean> {
  if (body === null) return !chunked; // Bun does not expose the body of a GET
  if (body.locked) return true; // read whole
  const passes = chunked || CLOSES.test(headers.get("connection") ?? "");
  if (!passes && !bodyUsed) return true;
  const reader = body.getReader();
  try {
    const ended = passes && (await readToEnd(reader));
    if (!ended) await reader.cancel();
    return ended || !chunked;
  } catch {
    return true; // the client aborted, and reads no answer
  }
}

/** False if it did not end in time, or came in too many pieces. Rejects if the client aborts. */
async function readToEnd(reader: BodyReader): Promise<boolean> {
  const until = performance.now() + LINGER_MS;
  let silent = false;
  const silence = setTimeout(() => {
    silent = true;
    void reader.cancel().catch(() => undefined); // a read reports what broke it
  }, SILENCE_MS);
  let [count, bytes] = [0, 0];
  try {
    while (performance.now() < until && !tooManyPieces(count, bytes, FREE_PIECES)) {
      const { done, value } = await reader.read();
      if (done) return !silent;
      count += 1;
      bytes += value.byteLength;
      giveBack(value);
      silence.refresh();
    }
    return false;
  } finally {
    clearTimeout(silence);
  }
}

type BodyReader = Pick<ReadableStreamDefaultReader<Uint8Array>, "read" | "cancel">;
