// One stream's path from the upstream to the client (wire.md §3): pulled, never pushed, so a slow client slows the provider. The
// last frame waits for the settlement; a stream that breaks is charged by evidence and ends in an error.
import type { Refusal } from "../domain/refusals.ts";
import type { StoredAnswer } from "../ledger/ledger.ts";
import { crashPoint } from "../lib/crash-point.ts";
import { Failure } from "../providers/failure.ts";
import { type Bill, costOf } from "./bill.ts";
import type { ConcurrencySlot } from "../limits/concurrency.ts";
import { StreamSession, type Ended } from "./stream-session.ts";
import type { dispatchStream } from "./dispatch.ts";
import { brokenStream, refusalOf } from "./failure-refusal.ts";
import { EVENT_STREAM } from "./event-stream.ts";
import type { StreamPrinter } from "./formats/format.ts";
import type { Hold } from "./hold.ts";
import type { Flight } from "./in-flight.ts";
import { ReplayBuffer } from "./replay-buffer.ts";
import type { CallScope } from "./call-scope.ts";
import type { ProgressLog } from "./progress-log.ts";
import { printGateway, receiptOf } from "./receipt.ts";
import { voidHold, rescueHold } from "./void-hold.ts";

/** What the front door needs of a stream. */
export interface Relayed {
  /** Frames in order; ends after the settlement is durable. Must be pulled to its end even if the client has left. */
  frames: AsyncGenerator<string, void, void>;
  /** A frame to send during a minute of silence; never part of a replay. */
  filler(): string;
  /** The client is gone. */
  leave(): void;
}

/**
 * The frames of a stream that was admitted and dispatched, pulled by whoever sends them. It owns the hold from here on: however the
 * stream ends, it is settled or voided before the last frame (money.md §4).
 */
export function relay(
  hold: Hold,
  dispatched: Dispatched,
  also: Pick<Run, "callScope" | "slot" | "flight" | "progress" | "abandoned" | "gaveUp">,
): Relayed {
  const { printer, idempotency, head } = hold.admitted;
  const frames = printer.stream(head, idempotency.callerSupplied);
  const replay = idempotency.callerSupplied ? ReplayBuffer.kept() : ReplayBuffer.unkept();
  also.flight?.streams(replay);
  return {
    frames: run({ ...also, hold, frames, replay }, dispatched),
    filler: () => frames.filler(),
    leave: () => also.callScope.leave(),
  };
}

/** The stream, once its first part has come, or why there is none. */
type Dispatched = ReturnType<typeof dispatchStream>;

interface Run {
  hold: Hold;
  callScope: CallScope;
  slot: ConcurrencySlot;
  /** For requests with a caller's key: duplicates follow it. */
  flight: Flight | null;
  progress: ProgressLog;
  abandoned: (requestId: string) => void;
  gaveUp: (error: unknown, requestId: string) => void;
  frames: StreamPrinter;
  replay: ReplayBuffer;
}

async function* run(stream: Run, dispatched: Dispatched): AsyncGenerator<string, void, void> {
  const { hold, callScope, replay } = stream;
  let stopLogging = (): void => {};
  let session: StreamSession | null = null;
  try {
    const streaming = await dispatched;
    if (streaming instanceof Error) {
      yield ended(stream, await failedEarly(stream, callScope.reason ?? streaming));
      return;
    }
    session = new StreamSession(stream, streaming);
    stopLogging = stream.progress.follow(session);
    yield replay.add(session.first());
    crashPoint("after_first_part");
    for (let text: string | null = ""; text !== null; ) {
      try {
        text = session.shown(await session.read());
      } catch (error) {
        text = session.broken(error);
      }
      if (text) yield replay.add(text);
    }
    const end = await session.end(); // may have to count, and a count may wait for its tables: kept open until then
    stopLogging();
    yield ended(stream, await settled(stream, end));
    crashPoint("after_last_byte");
  } catch (error) {
    stopLogging();
    yield ended(stream, await rescued(stream, error, session));
  } finally {
    stopLogging();
    callScope.close();
    replay.end("broken"); // unless it has ended well
    stream.flight?.end();
    stream.slot.done();
    if (hold.open) stream.abandoned(hold.admitted.requestId);
  }
}

/** COMMIT 2, then the last frames. */
async function settled(stream: Run, end: Ended, stored = storedStream): Promise<string> {
  const { hold, frames } = stream;
  const { candidate, bill, failure, progress, early } = end;
  const gateway = printGateway(receiptOf(hold, candidate, costOf(bill, hold, candidate)));
  const { choice, reason } = end.last;
  const last =
    failure === null
      ? early + frames.end(choice, reason, { usage: bill.usage, gateway })
      : frames.error(breakOf(failure, bill), gateway);
  const ending = {
    status: failure?.reason === "aborted" ? 499 : 200,
    totalMs: Math.round(performance.now() - hold.admitted.startedAtMs),
    answer: stored(stream, last),
  };
  const done =
    failure !== null && bill.evidence === "none"
      ? await hold.void({
          ...ending,
          errorCode: failure.reason === "aborted" ? "client_left" : "provider_error",
          freeClaim: false,
        })
      : await hold.settle({
          ...ending,
          ...bill,
          releaseDigest: candidate.release.digest,
          finishReason: failure === null ? reason : null,
          firstPartMs: progress.firstPartMs,
        });
  if (!done)
    throw new Error(
      `request ${hold.admitted.requestId} was resolved by another process; its stream is cut off`,
    );
  return last;
}

/** The error of an unfinished stream: charged for what was delivered, or nothing. */
const breakOf = (failure: Failure, bill: Bill): Refusal =>
  bill.evidence === "none" ? refusalOf(failure) : brokenStream(failure);

/** Failed after the status was sent but before the first part: nothing was delivered, nothing is charged. */
async function failedEarly({ hold, frames }: Run, error: Failure | Refusal): Promise<string> {
  const gateway = printGateway(receiptOf(hold, null, null));
  return frames.error((await voidHold(hold, error, gateway)).refusal, gateway);
}

/**
 * An exception after COMMIT 1 leaves no hold. What was delivered before it is not given away: it is charged by our own count. The
 * hold is voided if nothing was delivered, or if what was delivered cannot be priced either.
 */
async function rescued(stream: Run, error: unknown, session: StreamSession | null): Promise<string> {
  const { hold, callScope, frames, gaveUp } = stream;
  callScope.cut(new Failure("aborted", "unknown", "the gateway gave up the request"));
  if (session !== null && hold.openAfter(error)) {
    const priced = session.giveUp().then((end) => settled(stream, end, storedIfItCan));
    const last = await priced.catch((again: unknown) => {
      if (!hold.openAfter(again)) throw again;
      return null;
    });
    if (last !== null) {
      gaveUp(error, hold.admitted.requestId);
      return last;
    }
  }
  const gateway = printGateway(receiptOf(hold, null, null));
  const { refusal } = await rescueHold(hold, error, gateway);
  gaveUp(error, hold.admitted.requestId);
  return frames.error(refusal, gateway);
}

/** The last text, settled: duplicates may see it now, and the ledger answers later ones. */
function ended({ replay, flight }: Run, last: string): string {
  replay.add(last);
  replay.end("whole");
  flight?.end();
  return last;
}

/** After an exception: storing it may be what threw. */
function storedIfItCan(stream: Run, last: string): StoredAnswer | null {
  try {
    return storedStream(stream, last);
  } catch {
    return null;
  }
}

/** Null if it is not stored: too large, or of a request without a caller's key. */
function storedStream({ hold, replay }: Run, last: string): StoredAnswer | null {
  const body = replay.bytes(last);
  return (
    body && {
      requestId: hold.admitted.requestId,
      status: 200,
      headers: { "content-type": EVENT_STREAM },
      body,
    }
  );
}
