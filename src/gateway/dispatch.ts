// One provider call after another until one answers: the next route is tried only with proof that the former call did
// not run, and never after its first part (money.md §2, wire.md §8.3). Every call becomes an attempt of the hold.
import { Refusal } from "../contract/refusals.ts";
import { crashPoint } from "../lib/crash-point.ts";
import type { Clock } from "../lib/clock.ts";
import type { Answer, Part, Provider, ProviderCall } from "../providers/provider.ts";
import { Failure, type FailureCause } from "../providers/failure.ts";
import type { Candidate, Hold } from "./hold.ts";

/** Failures that another route would only repeat: the caller must change the request. */
const CALLERS_OWN: ReadonlySet<FailureCause> = new Set(["context_length", "content_filter"]);

/** Tells the breaker how a call on this route ended; null = well. */
export type ReportOutcome = (candidate: Candidate, failure: Failure | null) => void;

export interface DispatchPorts {
  providers: ReadonlyMap<string, Provider>;
  clock: Clock;
  report: ReportOutcome;
  /** HMAC of an identifier that a caller chose, keyed per installation and organization: never the raw value. */
  identify(organizationId: string, value: string): string;
}

export interface Answered {
  candidate: Candidate;
  answer: Answer;
}

export interface Streaming {
  candidate: Candidate;
  /** The parts up to and including the first that counts; then `rest` goes on where they end. */
  first: Part[];
  rest: AsyncIterator<Part[]>;
  /** Notes on the attempt how the stream ended; null = well. */
  ended(failure: Failure | null): void;
}

/** Calls candidates until one has answered whole. Throws the last `Failure`, or `Refusal` when none is configured here. */
export function dispatchAnswer(ports: DispatchPorts, hold: Hold, signal: AbortSignal): Promise<Answered> {
  return firstToAnswer(ports, hold, async (provider, candidate, attempt) => {
    const answer = await provider.complete(callOf(ports, hold, { candidate, attempt, signal }));
    noteEnd(ports, hold, { candidate, attempt, failure: null, upstreamId: answer.upstreamId });
    return { candidate, answer };
  });
}

/** Calls candidates until one has streamed its first part. Same errors. */
export function dispatchStream(ports: DispatchPorts, hold: Hold, signal: AbortSignal): Promise<Streaming> {
  return firstToAnswer(ports, hold, async (provider, candidate, attempt) => {
    const stream = await provider.stream(callOf(ports, hold, { candidate, attempt, signal }));
    const rest = stream.parts[Symbol.asyncIterator]();
    const first = await firstParts(rest);
    const ended = (failure: Failure | null): void =>
      noteEnd(ports, hold, { candidate, attempt, failure, upstreamId: stream.upstreamId() });
    return { candidate, first, rest, ended };
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
      return await call(provider, candidate, attempt);
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
  ports: DispatchPorts,
  hold: Hold,
  { candidate, attempt, signal }: { candidate: Candidate; attempt: number; signal: AbortSignal },
): ProviderCall {
  const { requestId, request, outputCeiling } = hold.admitted;
  return {
    requestId,
    attempt,
    signal,
    request,
    outputCeiling,
    release: candidate.release,
    reasoningEffort: candidate.reasoningEffort,
    temperature: candidate.temperature,
    identifiers: identifiersOf(ports, hold),
  };
}

function identifiersOf(ports: DispatchPorts, { admitted }: Hold): Record<string, string> {
  const given = Object.entries(admitted.request.identifiers);
  return Object.fromEntries(
    given.map(([name, value]) => [name, ports.identify(admitted.organizationId, value)]),
  );
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
  record.errorClass = end.failure?.reason ?? null;
  if (end.failure === null) record.outcome = "answered";
  else record.outcome = end.failure.executed === "no" ? "not_executed" : "unknown";
  ports.report(end.candidate, end.failure);
}

/** Adapters throw `Failure` only; anything else is a bug of theirs and proves nothing about the call. */
export function asFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  return new Failure("broken", "unknown", error instanceof Error ? error.message : "unknown error");
}
