// An answer that comes before its request's body has ended. The parser below us closes a connection that is not kept open as soon as
// it is answered, and a system that still gets bytes then resets it: the client, or the proxy before it, would never read why. What
// comes in chunks costs the parser time for each of them, however small, so that the connection ends where they go on behind an answer.
import { giveBack } from "./give-back.ts";
import { tooManyPieces } from "./pieces.ts";

/** For how long the rest of such a body is taken, milliseconds: as long as a whole one may take. */
const LINGER_MS = 30_000;
/** What does not come for so long is not coming before the answer. */
const SILENCE_MS = 2_000;

const CLOSES = /(?:^|,)\s*close\s*(?:,|$)/i;

/** Of a body that nobody reads; each of them takes a microsecond. */
const FREE_PIECES = 1_024;

export const isChunked = ({ headers }: Request): boolean => headers.has("transfer-encoding");

/**
 * Resolves when an answer can be sent so that it arrives: where the connection ends with it, or the body comes in chunks, behind the
 * body, which is read and forgotten; else at once, for the parser drops the rest. False: chunks of it are still to come, so that the
 * connection has to end with the answer. Never rejects.
 */
export async function bodyPassed({ headers, bodyUsed, body }: Request, chunked: boolean): Promise<boolean> {
  if (body === null) return !chunked; // that of a GET is not shown to us
  if (body.locked) return true; // read whole
  const passes = chunked || CLOSES.test(headers.get("connection") ?? "");
  if (!passes && !bodyUsed) return true;
  const reader = body.getReader();
  try {
    const ended = passes && (await readToEnd(reader));
    if (!ended) await reader.cancel();
    return ended || !chunked;
  } catch {
    return true; // the client broke it off, and reads no answer
  }
}

/** False: not within its time, or in too many pieces. Rejects when the client breaks it off. */
async function readToEnd(reader: BodyReader): Promise<boolean> {
  const until = performance.now() + LINGER_MS;
  let silent = false;
  const silence = setTimeout(() => {
    silent = true;
    void reader.cancel().catch(() => undefined); // a read tells what broke it
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
