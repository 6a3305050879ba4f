// An upstream's event stream → parts, pull-based: one network read per step, nothing read ahead of the consumer. Ends
// well only after every choice has finished; a failure after the model began is never proof of anything (wire.md §8.3).
import type { AnswerReader, Framing } from "../codec.ts";
import { Failure } from "../failure.ts";
import type { Part } from "../provider.ts";
import { incomplete } from "./answer.ts";
import { lost, type BodyReader } from "./call.ts";
import { failureOfError } from "./errors.ts";
import type { CallTimeouts } from "./timeouts.ts";

/** Comments, empty events and the like since something was said; above what the longest event takes. */
const WORDLESS_BYTES_MAX = 32 * 1024 * 1024;

/** Handed over at once, at most: who counts what was delivered can stop between, however much one read brings. */
const PARTS_AT_ONCE = 256;

interface Reading<Event> {
  framing: Framing<Event>;
  reader: AnswerReader<Event>;
  timeouts: CallTimeouts;
  /** What must not be kept of the upstream's words. */
  secrets: readonly string[];
}

/** What has become of one stream. */
interface Progress {
  /** Something of the answer was handed over. */
  started: boolean;
  /** Told before the first word: usage alone is no first part, and does not speak for what comes after it. */
  early: Part | null;
  /** Bytes since something was said. */
  wordless: number;
  /** Text came behind a finish: of such an upstream it says nothing (some repeat it on every chunk). */
  goesOn: boolean;
}

/** Parts of each network read together. Throws `Failure`; the reply is let go of however it ends. */
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
    // The terminator is read: the connection may serve the next call.
    void (drained ? drain(source) : source?.cancel().catch(() => {}));
  }
}

/** Who leaves before the first word pays for what was told by then (money.md §4): it is handed over, and then the end. */
const isSpent = (part: Part): boolean =>
  part.type === "usage" && part.usage.promptTokens + part.usage.completionTokens > 0;

/** Figures are no word of the answer, and an event is none beside what it says. */
const says = ({ type }: Part): boolean => type !== "usage" && type !== "native";

/** It has begun, and nothing of that is told: until its first word, events of any kind say that it is at work. */
const thinks = ({ began, complete, holdsBack }: AnswerReader<never>, { started }: Progress): boolean =>
  began && !complete && (!started || holdsBack === true);

/** What may be handed over before anything was; usage from before the first word goes in front of it. */
function begun(parts: Part[], { spoke, progress }: { spoke: boolean; progress: Progress }): Part[] {
  if (!spoke) {
    progress.early = parts.at(-1) ?? progress.early;
    return [];
  }
  progress.started = true;
  return progress.early === null ? parts : [progress.early, ...parts];
}

/** The events of one read. */
function eventsIn<Event>(bytes: Uint8Array, { framing }: Reading<Event>, progress: Progress): Event[] {
  progress.wordless += bytes.byteLength;
  if (progress.wordless > WORDLESS_BYTES_MAX)
    throw new Failure("broken", "unknown", "the upstream sent much and said nothing");
  return framing.push(bytes);
}

/** Where only the terminator is missing, a cut is an end too, and so is noise; throws what it is elsewhere. */
function requireEnd<Event>(error: unknown, { reader, timeouts }: Reading<Event>): void {
  const failure = error instanceof Failure ? error : (timeouts.reason ?? lost(error));
  if (!reader.complete || failure.reason === "aborted") throw failure;
}

/** Appends what one read brought, and says how the stream ended with it; parts before a failure still count as delivered. */
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

/** Once the model has put something out, no word of the upstream proves that nothing ran. */
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

/** Reads what little follows the terminator; never much, never long. */
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
    // The answer is complete: what happens to its connection concerns nobody.
  } finally {
    clearTimeout(timer);
  }
}
