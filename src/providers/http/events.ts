// Reads an upstream's event stream into parts, pull-based: one network read per step, nothing read ahead of the
// consumer. It ends normally only after every choice has finished; a failure after the model began is never proof of
// anything (wire.md §8.3).
import type { AnswerReader, Framing } from "../codec.ts";
import { Failure } from "../failure.ts";
import type { Part } from "../provider.ts";
import { incomplete } from "./answer.ts";
import { lost, type BodyReader } from "./call.ts";
import { failureOfError } from "./errors.ts";
import type { CallTimeouts } from "./timeouts.ts";

/** The bound on comments, empty events and the like since the last part; larger than the longest event. */
const WORDLESS_BYTES_MAX = 32 * 1024 * 1024;

/**
 * The maximum number of parts handed over at once: a consumer that counts what was delivered can stop in between,
 * however much one read brings.
 */
const PARTS_AT_ONCE = 256;

interface Reading<Event> {
  framing: Framing<Event>;
  reader: AnswerReader<Event>;
  timeouts: CallTimeouts;
  /** What must be redacted from the upstream's words. */
  secrets: readonly string[];
}

/** The state of one stream. */
interface Progress {
  /** True once any of the answer was handed over. */
  started: boolean;
  /** Usage from before the first word: it is not a first part, and does not replace later usage. */
  early: Part | null;
  /** Bytes since the last part. */
  wordless: number;
  /** Text came after a finish: for such an upstream a finish is no end (some repeat it on every chunk). */
  goesOn: boolean;
}

/** Yields the parts of each network read together. Throws `Failure`; the response is released however it ends. */
export async function* readParts<Event>(
  reply: Response,
  reading: Reading<Event>,
): AsyncGenerator<Part[], void, void> {
  const { reader, timeouts } = reading;
  const source = reply.body?.getReader() as BodyReader | undefined;
  const progress: Progress = { started: false, early: null, wordless: 0, goesOn: false };
  let drained = false;
  try {
    if (source === undefined) throw new Failure("broken", "unknown", "the upstream's stream has no body");
    for (let over = false; !over; ) {
      let events: Event[] = [];
      try {
        const read = await source.read();
        over = read.done;
        events = read.done ? (reading.framing.rest?.() ?? []) : eventsIn(read.value, reading, progress);
      } catch (error) {
        requireEnd(error, reading);
        over = true;
      }
      const finished = reader.complete;
      const parts: Part[] = [];
      const end = readEvents(events, reading, parts);
      const spoke = parts.some(says);
      const lives = spoke || (events.length > 0 && thinks(reader, progress));
      if (spoke) {
        progress.wordless = 0;
        progress.goesOn ||= finished;
      }
      if (lives) timeouts.pause();
      else timeouts.lend();
      const given = progress.started ? parts : begun(parts, { spoke, progress });
      for (let at = 0; at < given.length; at += PARTS_AT_ONCE)
        yield given.length <= PARTS_AT_ONCE ? given : given.slice(at, at + PARTS_AT_ONCE);
      if (lives) timeouts.resume();
      else timeouts.takeBack();
      if (end instanceof Failure) throw end;
      if (end === "done") {
        drained = true;
        break;
      }
      if (reader.complete && !progress.goesOn) timeouts.closing(reader.usageTold);
    }
    const last = lastParts(reader);
    yield progress.started ? last : begun(last, { spoke: true, progress });
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const { started, early } = progress;
    if (error.reason === "aborted" && !started && early !== null && isSpent(early)) yield [early];
    throw afterOutput(error, { began: progress.started || reader.began, id: reader.id });
  } finally {
    timeouts.end();
    // The terminator was read: the connection can serve the next call.
    void (drained ? drain(source) : source?.cancel().catch(() => {}));
  }
}

/**
 * A caller that leaves before the first word pays for the usage reported by then (money.md §4): it is handed over
 * before the end.
 */
const isSpent = (part: Part): boolean =>
  part.type === "usage" && part.usage.promptTokens + part.usage.completionTokens > 0;

/** Usage is not part of the answer, and neither is an event apart from its parts. */
const says = ({ type }: Part): boolean => type !== "usage" && type !== "native";

/** True if the model began without any output so far: until its first word, events of any kind show that it is working. */
const thinks = ({ began, complete, holdsBack }: AnswerReader<never>, { started }: Progress): boolean =>
  began && !complete && (!started || holdsBack === true);

/** Returns the parts to hand over, none before the first word; usage from before it goes in front. */
function begun(parts: Part[], { spoke, progress }: { spoke: boolean; progress: Progress }): Part[] {
  if (!spoke) {
    progress.early = parts.at(-1) ?? progress.early;
    return [];
  }
  progress.started = true;
  return progress.early === null ? parts : [progress.early, ...parts];
}

/** Returns the events of one read. */
function eventsIn<Event>(bytes: Uint8Array, { framing }: Reading<Event>, progress: Progress): Event[] {
  progress.wordless += bytes.byteLength;
  if (progress.wordless > WORDLESS_BYTES_MAX)
    throw new Failure("broken", "unknown", "the upstream sent a lot of data without content");
  return framing.push(bytes);
}

/** If only the terminator is missing, a cut or noise ends the stream too; otherwise throws the failure. */
function requireEnd<Event>(error: unknown, { reader, timeouts }: Reading<Event>): void {
  const failure = error instanceof Failure ? error : (timeouts.reason ?? lost(error));
  if (!reader.complete || failure.reason === "aborted") throw failure;
}

/**
 * Appends the parts of one read, and returns how the stream ended with it; parts before a failure still count as
 * delivered.
 */
function readEvents<Event>(
  events: readonly Event[],
  { reader, secrets }: Reading<Event>,
  parts: Part[],
): Failure | "done" | null {
  try {
    for (const event of events) {
      const end = reader.event(event, parts);
      if (end !== null) return end === "done" ? end : failureOfError(end, secrets);
    }
    return null;
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
}

function lastParts(reader: AnswerReader<never>): Part[] {
  if (!reader.complete) throw incomplete(reader, "the upstream's stream ended without a finish");
  const parts: Part[] = [];
  reader.close(parts);
  return parts;
}

/** Once the model has produced output, nothing the upstream says proves that nothing ran. */
function afterOutput(
  { reason, executed, message, upstream }: Failure,
  { began, id }: { began: boolean; id: string | null },
): Failure {
  if (!began) return new Failure(reason, executed, message, { ...upstream, id });
  const late = executed === "no" && reason !== "content_filter" ? "server" : reason;
  return new Failure(late, "unknown", message, { ...upstream, id });
}

const DRAIN_MS = 1000;
const DRAIN_BYTES_MAX = 64 * 1024;

/** Reads what follows the terminator; never much, never long. */
async function drain(source: BodyReader | undefined): Promise<void> {
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
    // The answer is complete: a failure of its connection does not matter.
  } finally {
    clearTimeout(timer);
  }
}
