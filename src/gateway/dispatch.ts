// One provider call after another until one answers: the next route is tried only with proof that the former call did
// not run, and never after its first part (money.md §2, wire.md §8.3). Every call becomes an attempt of the hold.
import { Refusal } from "../domain/refusals.ts";
import { crashPoint } from "../lib/crash-point.ts";
import type { Clock } from "../lib/clock.ts";
import type { Answer, Part, Provider, ProviderCall } from "../providers/provider.ts";
import { Failure, type FailureCause } from "../providers/failure.ts";
import type { AttemptRecord } from "../ledger/ledger.ts";
import type { TokenCounts } from "../pricing/cost-lines.ts";
import type { NoteDoubt } from "./bill.ts";
import { callersMistake } from "./callers-field.ts";
import type { Candidate, Hold } from "./hold.ts";

/** Failures that another route would only repeat: the caller must change the request. */
const CALLERS_OWN: ReadonlySet<FailureCause> = new Set(["context_length", "content_filter"]);

/** Told how a call on this route ended; null = well. `outcome` is the attempt's class, `answered` without a failure. */
export type ReportOutcome = (
  candidate: Candidate,
  failure: Failure | null,
  about: { requestId: string; outcome: string },
) => void;

export interface DispatchPorts {
  providers: ReadonlyMap<string, Provider>;
  clock: Clock;
  report: ReportOutcome;
  /** Alarm: a provider's word was not taken as it was. */
  doubted(about: { requestId: string; attempt: AttemptRecord; told: TokenCounts | null }): void;
}

export interface Answered {
  candidate: Candidate;
  answer: Answer;
  doubt: NoteDoubt;
}

export interface Streaming {
  candidate: Candidate;
  /** The parts up to and including the first that counts; then `rest` goes on where they end. */
  first: Part[];
  rest: AsyncIterator<Part[]>;
  /** Notes on the attempt how the stream ended; null = well. */
  ended(failure: Failure | null): void;
  doubt: NoteDoubt;
}

/** Calls candidates until one has answered whole. Throws the last `Failure`, or `Refusal` when none is configured here. */
export function dispatchAnswer(ports: DispatchPorts, hold: Hold, signal: AbortSignal): Promise<Answered> {
  return firstToAnswer(ports, hold, async (provider, candidate, attempt) => {
    const answer = await provider.complete(callOf(hold, { candidate, attempt, signal }));
    noteEnd(ports, hold, { candidate, attempt, failure: null, upstreamId: answer.upstreamId });
    return { candidate, answer, doubt: noteDoubt(ports, hold, attempt) };
  });
}

/** Calls candidates until one has streamed its first part. Same errors. */
export function dispatchStream(ports: DispatchPorts, hold: Hold, signal: AbortSignal): Promise<Streaming> {
  return firstToAnswer(ports, hold, async (provider, candidate, attempt) => {
    const stream = await provider.stream(callOf(hold, { candidate, attempt, signal }));
    const rest = stream.parts[Symbol.asyncIterator]();
    const first = await firstParts(rest);
    const ended = (failure: Failure | null): void =>
      noteEnd(ports, hold, { candidate, attempt, failure, upstreamId: stream.upstreamId() });
    return { candidate, first, rest, ended, doubt: noteDoubt(ports, hold, attempt) };
  });
}

async function firstToAnswer<T>(
  ports: DispatchPorts,
  hold: Hold,
  call: (provider: Provider, candidate: Candidate, attempt: number) => Promise<T>,
): Promise<T> {
  let last: Failure | null = null;
  for (const candidate of hold.admitted.candidates) {
    const provider = ports.providers.get(candidate.release.provider);
    if (provider === undefined) continue;
    const attempt = noteStart(ports, hold, candidate);
    try {
      const answer = await call(provider, candidate, attempt);
      for (const { body } of hold.admitted.candidates) body.sent();
      return answer;
    } catch (error) {
      last = asFailure(error);
      noteEnd(ports, hold, { candidate, attempt, failure: last, upstreamId: last.upstream.id ?? null });
      crashPoint("after_provider_refusal");
      if (last.executed !== "no" || CALLERS_OWN.has(last.reason)) throw last;
    }
  }
  if (last !== null) throw last;
  throw new Refusal(
    "route_unavailable",
    "No provider for this model is set up on this gateway. Try again later or choose another model.",
    {
      retryAfterMs: 5000,
    },
  );
}

/** Reads until the first part arrives; an upstream that ends before it has not kept its promise. */
async function firstParts(parts: AsyncIterator<Part[]>): Promise<Part[]> {
  for (;;) {
    const { done, value } = await parts.next();
    if (done) throw new Failure("broken", "unknown", "the stream ended before its first part");
    if (value.length > 0) return value;
  }
}

function callOf(
  hold: Hold,
  { candidate, attempt, signal }: { candidate: Candidate; attempt: number; signal: AbortSignal },
): ProviderCall {
  const { requestId, request, outputCeiling, trace } = hold.admitted;
  const { body, release } = candidate;
  const { upstreamModel } = release;
  const traceparent = trace === null ? null : trace.traceparent(attempt);
  return { requestId, attempt, signal, request, outputCeiling, body, upstreamModel, traceparent };
}

function noteStart(ports: DispatchPorts, hold: Hold, candidate: Candidate): number {
  const n = hold.attempts.length + 1;
  hold.attempts.push({
    n,
    route: candidate.release.route,
    provider: candidate.release.provider,
    startedAtMs: ports.clock.nowMs(),
    durationMs: 0,
    outcome: "unknown",
    upstreamId: null,
    upstreamStatus: null,
    errorClass: null,
  });
  return n;
}

function noteEnd(
  ports: DispatchPorts,
  hold: Hold,
  end: { candidate: Candidate; attempt: number; failure: Failure | null; upstreamId: string | null },
): void {
  const record = hold.attempts[end.attempt - 1];
  if (record === undefined) throw new Error(`attempt ${end.attempt} was never started`);
  record.durationMs = ports.clock.nowMs() - record.startedAtMs;
  record.upstreamId = end.upstreamId;
  record.upstreamStatus = end.failure?.upstream.status ?? (end.failure === null ? 200 : null);
  record.errorClass = end.failure === null ? null : classOf(hold, end.failure);
  if (end.failure?.upstream.words !== undefined) record.words = end.failure.upstream.words;
  if (end.failure === null) record.outcome = "answered";
  else record.outcome = end.failure.executed === "no" ? "not_executed" : "unknown";
  const { requestId } = hold.admitted;
  ports.report(end.candidate, end.failure, { requestId, outcome: record.errorClass ?? "answered" });
}

const noteDoubt =
  (ports: DispatchPorts, { admitted, attempts }: Hold, attempt: number): NoteDoubt =>
  (doubts, told) => {
    const record = attempts[attempt - 1];
    if (record === undefined) throw new Error(`attempt ${attempt} was never started`);
    record.doubts = doubts;
    if (told !== null) record.told = told;
    ports.doubted({ requestId: admitted.requestId, attempt: record, told });
  };

/** A refusal for the caller's own mistake is told apart from one for ours. */
const classOf = ({ admitted }: Hold, failure: Failure): string =>
  callersMistake(admitted, failure) === null ? failure.reason : "bad_request";

/** Adapters throw `Failure` only; anything else is a bug of theirs and proves nothing about the call. */
export function asFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  return new Failure("broken", "unknown", error instanceof Error ? error.message : "unknown error");
}
