// The complete path of one request (docs/walkthrough.md): admit → dispatch → price → receipt → settle → answer. Two durable
// commits: credits are held before a provider is called, and settled before the last byte is sent.
import { type Asked, NOTHING_READ } from "../domain/request-log.ts";
import { Refusal } from "../domain/refusals.ts";
import { within } from "../lib/within.ts";
import type { Ledger, StoredAnswer } from "../ledger/ledger.ts";
import { type AdmissionOutcome, admit, type AdmitPorts } from "./admit.ts";
import type { Followed } from "./attach.ts";
import { charactersOf, deliveredOf, isRefused } from "./answer-text.ts";
import { withinCeiling } from "./cut-answer.ts";
import { billOf, costOf } from "./bill.ts";
import { type Answered, type DispatchPorts, dispatchAnswer, dispatchStream } from "./dispatch.ts";
import { EVENT_STREAM } from "./event-stream.ts";
import type { Hold } from "./hold.ts";
import { ignoredHeader } from "./ignored-parameters.ts";
import type { Incoming } from "./incoming.ts";
import type { CallScope, CallScopes } from "./call-scope.ts";
import type { Failure } from "../providers/failure.ts";
import type { ProgressLog } from "./progress-log.ts";
import { printGateway, receiptOf } from "./receipt.ts";
import { type Relayed, relay } from "./relay.ts";
import { takeRoom } from "./answer-room.ts";
import type { Room } from "../limits/byte-rooms.ts";
import { type Failed, rescueHold, voidHold } from "./void-hold.ts";

export interface CompletePorts extends AdmitPorts, DispatchPorts {
  /** Alarm: a request ended with its hold open because something threw. Its money stays held until recovery. */
  abandoned: (requestId: string) => void;
  /** Called with an exception for which a request was given up; its hold was voided. */
  gaveUp: (error: unknown, requestId: string) => void;
  ledger: AdmitPorts["ledger"] & Pick<Ledger, "settle" | "void">;
  progress: ProgressLog;
  callScopes: CallScopes;
  timeouts: {
    /** The deadline of a non-streamed answer, milliseconds: clients drop a silent connection after 300 s and pay again. */
    answerMs: number;
    streamMs: number;
    /** How long a stream's status waits for the first part, so that early errors keep a real status. */
    firstPartMs: number;
  };
}

type Headers = Record<string, string>;

const JSON_BODY = { "content-type": "application/json" } as const;
const EVENTS = { "content-type": EVENT_STREAM } as const;

export type Completion =
  /** `room`: of a large answer, to be released once it has been sent. */
  | { kind: "answer"; status: number; headers: Headers; body: string; room?: Room | null }
  | { kind: "stream"; headers: Headers; relayed: Relayed }
  | { kind: "replay"; answer: StoredAnswer; asked: Asked; room: Room | null }
  | (Followed & { asked: Asked })
  /** Refused before a hold. `gateway` is JSON text for the error body, null for callers that showed no valid key. */
  | { kind: "refused"; refusal: Refusal; gateway: string | null; headers: Headers; asked: Asked };

/** Serves one request of any surface (specification 4). Policy and provider failures are completions; a throw is a bug. */
export async function complete(ports: CompletePorts, incoming: Incoming): Promise<Completion> {
  const admission = await admit(ports, incoming); //                                             1–6, COMMIT 1
  if (admission.kind !== "admitted") return admission;
  const { stream } = admission.hold.admitted.request;
  const completion = await (stream ? streamed : answered)(ports, admission, incoming); //       7–10, COMMIT 2
  if ("headers" in completion) completion.headers = Object.assign(admission.headers, completion.headers);
  return completion;
}

type Admitted = Extract<AdmissionOutcome, { kind: "admitted" }>;

async function answered(
  ports: CompletePorts,
  { hold, slot, flight }: Admitted,
  incoming: Incoming,
): Promise<Completion> {
  const { admitted } = hold;
  const callScope = ports.callScopes.begin(incoming.signal, {
    timeoutMs: ports.timeouts.answerMs,
    outlivesClient: admitted.idempotency.callerSupplied,
  });
  try {
    const full = takeRoom(ports.answers, hold);
    if (full !== null) return await failed(hold, full);
    const answer = await dispatchAnswer(ports, hold, callScope); //                            7
    if (answer instanceof Error) return await failed(hold, outranked(answer, callScope));
    return await settledAnswer(hold, answer); //                                                      8–10
  } catch (error) {
    return await rescued(ports, hold, error);
  } finally {
    hold.room?.release(); // unless it is passed on with the answer
    callScope.close();
    slot.done();
    flight?.end();
    if (hold.open) ports.abandoned(admitted.requestId);
  }
}

async function settledAnswer(hold: Hold, answered: Answered): Promise<Completion> {
  const { attempt } = answered;
  const { candidate } = attempt;
  const { head, printer, requestId, organizationId, idempotency, startedAtMs } = hold.admitted;
  const { tokenizer } = candidate.release;
  const ceiled = withinCeiling(answered.answer, hold.admitted, tokenizer);
  const { answer, overrun } = ceiled instanceof Promise ? await ceiled : ceiled;
  const billing = billOf(hold, candidate, {
    usage: answer.usage,
    characters: charactersOf(answered.answer),
    deliveredTokens: () => deliveredOf(answer, tokenizer, organizationId),
    final: true,
    refused: answer.choices.every(isRefused),
    failed: false,
    overrun,
    attempt,
  });
  const bill = billing instanceof Promise ? await billing : billing;
  const gateway = printGateway(receiptOf(hold, candidate, costOf(bill, hold, candidate)));
  const body = printer.answer(head, answer, { usage: bill.usage, gateway });
  const totalMs = Math.round(performance.now() - startedAtMs);
  const mine = await hold.settle({
    ...bill,
    releaseDigest: candidate.release.digest,
    finishReason: answer.choices[0]?.finishReason ?? null,
    status: 200,
    firstPartMs: totalMs,
    totalMs,
    answer: idempotency.callerSupplied
      ? { requestId, status: 200, headers: JSON_BODY, body: Buffer.from(body) }
      : null,
  });
  if (mine) {
    const { room } = hold;
    hold.room = null;
    return { kind: "answer", status: 200, headers: ignoredHeader(hold, candidate, JSON_BODY), body, room };
  }
  return { kind: "refused", refusal: outcomeUnknown(), gateway: null, headers: {}, asked: NOTHING_READ };
}

/** The relay owns the hold from the first part on: it settles before its last frame. */
async function streamed(
  ports: CompletePorts,
  { hold, slot, flight }: Admitted,
  incoming: Incoming,
): Promise<Completion> {
  const { admitted } = hold;
  const callScope = ports.callScopes.begin(incoming.signal, {
    timeoutMs: ports.timeouts.streamMs,
    outlivesClient: admitted.idempotency.callerSupplied,
  });
  let relayed: Relayed | null = null;
  try {
    const dispatched = dispatchStream(ports, hold, callScope);
    const early = await within(dispatched, ports.timeouts.firstPartMs);
    if (early instanceof Error) return await failed(hold, outranked(early, callScope));
    const { progress, abandoned, gaveUp } = ports;
    const headers = ignoredHeader(hold, early?.attempt.candidate ?? null, EVENTS);
    relayed = relay(hold, dispatched, { callScope, slot, flight, progress, abandoned, gaveUp });
    return { kind: "stream", headers, relayed };
  } catch (error) {
    return await rescued(ports, hold, error);
  } finally {
    if (relayed === null) {
      callScope.close();
      slot.done();
      flight?.end();
      if (hold.open) ports.abandoned(admitted.requestId);
    }
  }
}

/** Failed before anything was delivered: charge 0, hold voided. */
async function failed(hold: Hold, error: Parameters<typeof voidHold>[1]): Promise<Completion> {
  return answerOf(await voidHold(hold, error, printGateway(receiptOf(hold, null, null))));
}

/** An exception after COMMIT 1 leaves no hold: charge 0, hold voided. */
async function rescued(ports: CompletePorts, hold: Hold, error: unknown): Promise<Completion> {
  const released = await rescueHold(hold, error, printGateway(receiptOf(hold, null, null)));
  ports.gaveUp(error, hold.admitted.requestId);
  return answerOf(released);
}

const answerOf = ({ status, headers, body }: Failed): Completion => ({
  kind: "answer",
  status,
  headers,
  body,
});

/** If we cut the call ourselves, our reason takes precedence over the adapter's. */
const outranked = (failure: Failure | Refusal, callScope: CallScope): Failure | Refusal =>
  failure instanceof Refusal ? failure : (callScope.reason ?? failure);

const outcomeUnknown = (): Refusal =>
  new Refusal(
    "idempotency_outcome_unknown",
    "Another process ended this request while it was still running, and its outcome is not known. If running it twice is acceptable, retry with a new Idempotency-Key, or without one.",
  );
