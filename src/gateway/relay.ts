// One stream's way from the upstream to the client (wire.md §3): pulled, never pushed, so a slow client slows the
// provider. The last frame waits for the settlement; a stream that breaks is charged by evidence and ends in an error.
import { printError } from "../contract/error-body.ts";
import { Refusal } from "../contract/refusals.ts";
import type { StoredAnswer } from "../ledger/ledger.ts";
import { crashPoint } from "../lib/crash-point.ts";
import type { Failure } from "../providers/failure.ts";
import { printUsage } from "./answer-body.ts";
import { type Bill, costOf } from "./bill.ts";
import { Course, type Ended } from "./course.ts";
import { asFailure, type Streaming } from "./dispatch.ts";
import { brokenStream, refusalOf } from "./failure-refusal.ts";
import { EVENT_STREAM, Frames } from "./frames.ts";
import type { Hold } from "./hold.ts";
import type { Flight } from "./in-flight.ts";
import { KeptStream } from "./kept-stream.ts";
import type { Lifeline } from "./lifeline.ts";
import type { ProgressLog } from "./progress-log.ts";
import type { Taken } from "./rate.ts";
import { printGateway, receiptOf } from "./receipt.ts";
import { releaseHold } from "./release-hold.ts";

/** What the front door needs of a stream. */
export interface Relayed {
  /** Frames in order; ends after the settlement is durable. Must be pulled to its end even when the client left. */
  frames: AsyncGenerator<string, void, void>;
  /** A frame for a silent minute; never part of a replay. */
  filler(): string;
  /** The client is gone. */
  leave(): void;
}

export function relay(
  hold: Hold,
  streaming: Promise<Streaming>,
  also: Pick<Run, "lifeline" | "taken" | "flight" | "progress" | "abandoned">,
): Relayed {
  const { request, idempotency, head } = hold.admitted;
  const frames = new Frames(head, {
    choices: request.n,
    includeUsage: request.includeUsage,
    numbered: idempotency.callerSupplied,
  });
  const kept = new KeptStream(idempotency.callerSupplied);
  also.flight?.streams(kept);
  return {
    frames: run({ ...also, hold, frames, kept }, streaming),
    filler: () => frames.filler(),
    leave: also.lifeline.leave,
  };
}

interface Run {
  hold: Hold;
  lifeline: Lifeline;
  taken: Taken;
  /** For callers' keys: who duplicates it follows it. */
  flight: Flight | null;
  progress: ProgressLog;
  abandoned: (requestId: string) => void;
  frames: Frames;
  kept: KeptStream;
}

async function* run(stream: Run, dispatched: Promise<Streaming>): AsyncGenerator<string, void, void> {
  const { hold, lifeline, kept } = stream;
  let stopLogging = (): void => {};
  try {
    const streaming = await dispatched.catch((error: unknown) =>
      error instanceof Refusal ? error : asFailure(error),
    );
    if (streaming instanceof Error) {
      yield ended(stream, await failedEarly(stream, lifeline.reason ?? streaming));
      return;
    }
    const course = new Course(stream, streaming);
    stopLogging = stream.progress.follow(course);
    yield kept.add(course.first());
    crashPoint("after_first_part");
    for (let text = await course.next(); text !== null; text = await course.next())
      if (text !== "") yield kept.add(text);
    const end = await course.end(); // may have to count, and a count may wait for its tables: kept until then
    stopLogging();
    yield ended(stream, await settled(stream, end));
    crashPoint("after_last_byte");
  } finally {
    stopLogging();
    lifeline.close();
    kept.end("broken"); // unless it has ended well
    stream.flight?.end();
    stream.taken.release();
    if (hold.open) stream.abandoned(hold.admitted.requestId);
  }
}

/** COMMIT 2, then the last frames. */
async function settled(stream: Run, end: Ended): Promise<string> {
  const { hold, frames } = stream;
  const { candidate, bill, failure, progress } = end;
  const gateway = printGateway(receiptOf(hold, candidate, costOf(bill, hold)));
  const { choice, reason } = progress.last ?? { choice: 0, reason: "length" };
  const last =
    failure === null
      ? frames.end(choice, reason, { usage: printUsage(bill.usage), gateway })
      : frames.error(printError(breakOf(failure, bill), hold.admitted.requestId, gateway));
  const ending = {
    status: failure?.reason === "aborted" ? 499 : 200,
    totalMs: Math.round(performance.now() - hold.admitted.startedAtMs),
    answer: storedStream(stream, last),
  };
  const done =
    bill.evidence === "none"
      ? await hold.void({
          ...ending,
          errorCode: failure?.reason === "aborted" ? "client_left" : "provider_error",
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
    throw new Error(`request ${hold.admitted.requestId} was resolved by somebody else; its stream is cut`);
  return last;
}

/** What an unfinished stream ends with: charged for what was delivered, or for nothing. */
const breakOf = (failure: Failure, bill: Bill): Refusal =>
  bill.evidence === "none" ? refusalOf(failure) : brokenStream(failure);

/** Failed after the status was sent but before the first part: nothing was delivered, nothing is charged. */
async function failedEarly({ hold, frames }: Run, error: Failure | Refusal): Promise<string> {
  const failed = await releaseHold(hold, error, printGateway(receiptOf(hold, null, null)));
  return frames.error(failed.body);
}

/** The last text, settled: duplicates may see it now, and the ledger answers those that come later. */
function ended({ kept, flight }: Run, last: string): string {
  kept.add(last);
  kept.end("whole");
  flight?.end();
  return last;
}

function storedStream({ hold, kept }: Run, last: string): StoredAnswer | null {
  const body = kept.bytes(last);
  return (
    body && {
      requestId: hold.admitted.requestId,
      status: 200,
      headers: { "content-type": EVENT_STREAM },
      body,
    }
  );
}
