// An upstream's event stream → parts, pull-based: one network read per step, nothing read ahead of the consumer. Ends
// well only after every choice has finished; a failure after the first part is never proof of anything (wire.md §8.3).
import { EventLines } from "./event-lines.ts";
import { Failure } from "./failure.ts";
import type { ChunkReader } from "./parts-of-chunk.ts";
import type { Part } from "./provider.ts";
import { lost } from "./upstream-call.ts";
import { failureOfEvent } from "./upstream-error.ts";
import { isObject } from "./usage.ts";
import type { Watch } from "./watch.ts";

type Source = ReadableStreamDefaultReader<Uint8Array>;

export async function* readParts(
  reply: Response,
  { reader, watch }: { reader: ChunkReader; watch: Watch },
): AsyncGenerator<Part[], void, void> {
  const source = reply.body?.getReader() as Source | undefined;
  let drained = false;
  try {
    if (source === undefined) throw new Failure("broken", "unknown", "the upstream's stream has no body");
    const lines = new EventLines();
    for (;;) {
      const bytes = await nextBytes(source, { reader, watch });
      if (bytes === null) break;
      const { parts, end } = readEvents(lines.push(bytes), reader);
      if (parts.length > 0) {
        watch.handOver();
        yield parts;
        watch.waitOn();
      }
      if (end instanceof Failure) throw end;
      if (end === "done") {
        drained = true;
        break;
      }
      if (reader.complete && parts.every(({ type }) => type === "usage")) watch.closing();
    }
    yield lastParts(reader);
  } catch (error) {
    throw error instanceof Failure ? told(error, reader) : error;
  } finally {
    watch.end();
    // The terminator is read: the connection may serve the next call.
    void (drained ? drain(source) : source?.cancel().catch(() => {}));
  }
}

/** Null at the end. Where only the terminator is missing, a cut is an end too. */
async function nextBytes(
  source: Source,
  { reader, watch }: { reader: ChunkReader; watch: Watch },
): Promise<Uint8Array | null> {
  try {
    const read = await source.read();
    return read.done ? null : read.value;
  } catch (error) {
    const failure = watch.reason ?? lost(error);
    if (reader.complete && failure.reason !== "aborted") return null;
    throw failure;
  }
}

/** What one read brought; parts before a failure still count as delivered. */
function readEvents(
  events: readonly string[],
  reader: ChunkReader,
): { parts: Part[]; end: Failure | "done" | null } {
  const parts: Part[] = [];
  let end: Failure | "done" | null = null;
  try {
    for (const data of events) {
      if (data.startsWith("[DONE]")) {
        end = "done";
        break;
      }
      if (data !== "") reader.read(readChunk(data), parts);
    }
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    end = error;
  }
  reader.addUsage(parts);
  return { parts, end };
}

function readChunk(data: string): Record<string, unknown> {
  let chunk: unknown;
  try {
    chunk = JSON.parse(data);
  } catch {
    throw new Failure("broken", "unknown", "the upstream sent an event that is not JSON");
  }
  if (!isObject(chunk))
    throw new Failure("broken", "unknown", "the upstream sent an event that is no object");
  if (chunk["error"]) throw failureOfEvent(chunk["error"]);
  if (chunk["object"] === "error") throw failureOfEvent(chunk);
  return chunk;
}

function lastParts(reader: ChunkReader): Part[] {
  if (!reader.complete)
    throw new Failure("broken", "unknown", "the upstream's stream ended without a finish");
  const parts: Part[] = [];
  reader.close(parts);
  return parts;
}

/** Once something was delivered, no word of the upstream proves that nothing ran. */
function told(failure: Failure, { started, id }: ChunkReader): Failure {
  const { reason, executed, message, upstream } = failure;
  if (!started) return new Failure(reason, executed, message, { ...upstream, id });
  const late = executed === "no" && reason !== "content_filter" ? "server" : reason;
  return new Failure(late, "unknown", message, { ...upstream, id });
}

const DRAIN_MS = 1000;
const DRAIN_BYTES_MAX = 64 * 1024;

/** Reads what little follows the terminator; never much, never long. */
async function drain(source: Source | undefined): Promise<void> {
  if (source === undefined) return;
  const timer = setTimeout(() => void source.cancel().catch(() => {}), DRAIN_MS);
  try {
    for (let left = DRAIN_BYTES_MAX; left > 0; ) {
      const read = await source.read();
      if (read.done) return;
      left -= read.value.byteLength;
    }
    await source.cancel();
  } catch {
    // The answer is complete: what happens to its connection concerns nobody.
  } finally {
    clearTimeout(timer);
  }
}
