// The way of one request, whole (docs/walkthrough.md): admit → dispatch → price → receipt → settle → answer. Two
// durable commits: credits are held before a provider is called, and settled before the last byte is sent.
import { Refusal } from "../contract/refusals.ts";
import type { Ledger, StoredAnswer } from "../ledger/ledger.ts";
import { type Admission, admit, type AdmitPorts } from "./admit.ts";
import type { Followed } from "./attach.ts";
import { deliveredOf, printAnswer, printUsage } from "./answer-body.ts";
import { billOf, costOf } from "./bill.ts";
import { type Answered, asFailure, type DispatchPorts, dispatchAnswer, dispatchStream } from "./dispatch.ts";
import { EVENT_STREAM } from "./frames.ts";
import { Hold } from "./hold.ts";
import type { Incoming } from "./incoming.ts";
import type { Lifeline, Lifelines } from "./lifeline.ts";
import type { ProgressLog } from "./progress-log.ts";
import { printGateway, receiptOf } from "./receipt.ts";
import { type Relayed, relay } from "./relay.ts";
import { releaseHold } from "./release-hold.ts";

export interface CompletePorts extends AdmitPorts, DispatchPorts {
  /** Alarm: a request ended with its hold open, because something threw. Its money stays held until recovery. */
  abandoned: (requestId: string) => void;
  ledger: AdmitPorts["ledger"] & Pick<Ledger, "settle" | "void">;
  progress: ProgressLog;
  lifelines: Lifelines;
  timeouts: {
    /** A non-streamed answer ends within this, milliseconds: clients drop a silent reply after 300 s and pay again. */
    answerMs: number;
    streamMs: number;
    /** How long a stream's status waits for the first part, so that early errors keep a real status. */
    firstPartMs: number;
  };
}

type Headers = Record<string, string>;

export type Completion =
  | { kind: "answer"; status: number; headers: Headers; body: string }
  | { kind: "stream"; headers: Headers; relayed: Relayed }
  | { kind: "replay"; answer: StoredAnswer }
  | Followed
  /** Refused before a hold. `gateway` is JSON text for the error body, null for callers that showed no valid key. */
  | { kind: "refused"; refusal: Refusal; gateway: string | null; headers: Headers };

/** Serves one chat completion (specification 4). Policy and provider failures are completions; a throw is a bug. */
export async function complete(ports: CompletePorts, incoming: Incoming): Promise<Completion> {
  const admission = await admit(ports, incoming); //                                             1–5, COMMIT 1
  if (admission.kind !== "admitted") return admission;
  const { stream } = admission.admitted.request;
  const completion = await (stream ? streamed : answered)(ports, admission, incoming); //        6–9, COMMIT 2
  return "headers" in completion
    ? { ...completion, headers: { ...admission.headers, ...completion.headers } }
    : completion;
}

type Admitted = Extract<Admission, { kind: "admitted" }>;

async function answered(
  ports: CompletePorts,
  { admitted, taken, flight }: Admitted,
  incoming: Incoming,
): Promise<Completion> {
  const hold = new Hold(admitted, ports.ledger);
  const lifeline = ports.lifelines.begin(incoming.signal, {
    timeoutMs: ports.timeouts.answerMs,
    outlivesClient: admitted.idempotency.callerSupplied,
  });
  try {
    const answer = await dispatchAnswer(ports, hold, lifeline.signal).catch(failureOf(lifeline)); //  6
    if (answer instanceof Error) return await failed(hold, answer);
    return await settledAnswer(hold, answer); //                                                      7–9
  } finally {
    lifeline.close();
    taken.release();
    flight?.end();
    if (hold.open) ports.abandoned(admitted.requestId);
  }
}

async function settledAnswer(hold: Hold, { candidate, answer }: Answered): Promise<Completion> {
  const { head, requestId, idempotency, startedAtMs } = hold.admitted;
  const bill = await billOf(hold, candidate, {
    usage: answer.usage,
    deliveredTokens: () => deliveredOf(answer, candidate.release.tokenizer),
    complete: true,
  });
  const gateway = printGateway(receiptOf(hold, candidate, costOf(bill, hold)));
  const body = printAnswer(head, answer, { usage: printUsage(bill.usage), gateway });
  const headers = { "content-type": "application/json" };
  const totalMs = Math.round(performance.now() - startedAtMs);
  const mine = await hold.settle({
    ...bill,
    releaseDigest: candidate.release.digest,
    finishReason: answer.choices[0]?.finishReason ?? null,
    status: 200,
    firstPartMs: totalMs,
    totalMs,
    answer: idempotency.callerSupplied ? { requestId, status: 200, headers, body: Buffer.from(body) } : null,
  });
  if (mine) return { kind: "answer", status: 200, headers, body };
  return { kind: "refused", refusal: outcomeUnknown(), gateway: null, headers: {} };
}

/** The relay owns the hold from the first part on: it settles before its last frame. */
async function streamed(
  ports: CompletePorts,
  { admitted, taken, flight }: Admitted,
  incoming: Incoming,
): Promise<Completion> {
  const hold = new Hold(admitted, ports.ledger);
  const lifeline = ports.lifelines.begin(incoming.signal, {
    timeoutMs: ports.timeouts.streamMs,
    outlivesClient: admitted.idempotency.callerSupplied,
  });
  const dispatched = dispatchStream(ports, hold, lifeline.signal);
  const early = await within(dispatched.catch(failureOf(lifeline)), ports.timeouts.firstPartMs);
  if (early instanceof Error) {
    lifeline.close();
    const completion = await failed(hold, early);
    taken.release();
    flight?.end();
    return completion;
  }
  return {
    kind: "stream",
    headers: { "content-type": EVENT_STREAM },
    relayed: relay(hold, dispatched, {
      lifeline,
      taken,
      flight,
      progress: ports.progress,
      abandoned: ports.abandoned,
    }),
  };
}

/** Failed before anything was delivered: 0, released. */
async function failed(hold: Hold, error: Parameters<typeof releaseHold>[1]): Promise<Completion> {
  return { kind: "answer", ...(await releaseHold(hold, error, printGateway(receiptOf(hold, null, null)))) };
}

/** A rejection of the dispatch as a value; where we cut the call ourselves, our reason outranks the adapter's. */
const failureOf = (lifeline: Lifeline) => (error: unknown) =>
  error instanceof Refusal ? error : (lifeline.reason ?? asFailure(error));

const outcomeUnknown = (): Refusal =>
  new Refusal(
    "idempotency_outcome_unknown",
    "This request was resolved while it ran, and its outcome is not known. Retry with a new Idempotency-Key, or none.",
  );

/** The promise's value, or null when it takes longer. */
async function within<T>(promise: Promise<T>, ms: number): Promise<T | null> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, ms, null);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
