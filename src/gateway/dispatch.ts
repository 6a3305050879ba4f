// Calls providers one after another until one answers. The next route is tried only with proof that the previous call did not run,
// and never after its first part (money.md §2, wire.md §8.3). Every call becomes an attempt of the hold.
import type { Refusal } from "../domain/refusals.ts";
import { crashPoint } from "../lib/crash-point.ts";
import type { Clock } from "../lib/clock.ts";
import type { Answer, CallSignal, Part, Provider, ProviderCall } from "../providers/provider.ts";
import { Failure, type FailureCause } from "../providers/failure.ts";
import type { AttemptRecord, Doubt } from "../ledger/records.ts";
import type { TokenCounts } from "../pricing/cost-lines.ts";
import type { NotesDoubt } from "./bill.ts";
import { callersMistake } from "./callers-field.ts";
import type { Admitted, Candidate, Hold } from "./hold.ts";
import { noProvider } from "./no-provider.ts";

/** Failures that another route would repeat: the caller must change the request. */
const CALLERS_OWN: ReadonlySet<FailureCause> = new Set(["context_length", "content_filter"]);

/** Called with how a call on this route ended; null = success. `outcome` is the attempt's class, `answered` without a failure. */
export type ReportOutcome = (
  candidate: Candidate,
  failure: Failure | null,
  of: Pick<Admitted, "requestId" | "organizationId">,
  outcome: string,
) => void;

export interface DispatchPorts {
  providers: ReadonlyMap<string, Provider>;
  clock: Clock;
  report: ReportOutcome;
  /** Alarm: usage that a provider reported was not taken as it was. */
  doubted(about: { requestId: string; attempt: AttemptRecord; told: TokenCounts | null }): void;
}

export interface Answered {
  attempt: Attempt;
  answer: Answer;
}

export interface Streaming {
  attempt: Attempt;
  /** The parts up to and including the first that counts; `rest` continues after them. */
  first: Part[];
  rest: AsyncIterator<Part[]>;
  upstreamId(this: void): string | null;
}

/** One call to a provider, recorded among the attempts of its hold from its start. */
class Attempt implements NotesDoubt {
  private readonly record: AttemptRecord;
  /** Monotonic, so that setting the clock does not change durations. */
  private readonly beganMs: number;

  constructor(
    private readonly ports: DispatchPorts,
    private readonly hold: Hold,
    readonly candidate: Candidate,
  ) {
    this.record = {
      n: hold.attempts.length + 1,
      route: candidate.release.route,
      provider: candidate.release.provider,
      startedAtMs: ports.clock.nowMs(),
      durationMs: 0,
      outcome: "unknown",
      upstreamId: null,
      upstreamStatus: null,
      errorClass: null,
    };
    this.beganMs = ports.clock.monotonicMs();
    hold.attempts.push(this.record);
    hold.tried = candidate;
  }

  /** What the provider is asked for. */
  call(signal: CallSignal): ProviderCall {
    const { requestId, request, outputCeiling, trace } = this.hold.admitted;
    const { body, release } = this.candidate;
    const { upstreamModel } = release;
    const { n: attempt } = this.record;
    const traceparent = trace === null ? null : trace.traceparent(attempt);
    const { room } = this.hold;
    return { requestId, attempt, signal, request, outputCeiling, room, body, upstreamModel, traceparent };
  }

  /** Records how the call ended; null = success. */
  ended(failure: Failure | null, upstreamId: string | null): void {
    const { record, ports, hold } = this;
    record.durationMs = Math.round(ports.clock.monotonicMs() - this.beganMs);
    record.upstreamId = upstreamId;
    record.upstreamStatus = failure?.upstream.status ?? (failure === null ? 200 : null);
    record.errorClass = failure === null ? null : classOf(hold, failure);
    if (failure?.upstream.words !== undefined) record.words = failure.upstream.words;
    if (failure === null) record.outcome = "answered";
    else record.outcome = failure.executed === "no" ? "not_executed" : "unknown";
    ports.report(this.candidate, failure, hold.admitted, record.errorClass ?? "answered");
  }

  /** The call is priced by our own count instead: the provider's usage is not used after all. */
  disregard(): void {
    delete this.record.doubts;
    delete this.record.told;
  }

  doubt(doubts: Doubt[], told: TokenCounts | null): void {
    const { record, ports, hold } = this;
    record.doubts = doubts;
    if (told !== null) record.told = told;
    ports.doubted({ requestId: hold.admitted.requestId, attempt: record, told });
  }
}

/** How one kind of answer uses a provider. */
interface Kind<Told, Begun> {
  ask(provider: Provider, call: ProviderCall): Promise<Told>;
  begun(attempt: Attempt, told: Told): Begun;
}

const WHOLE: Kind<Answer, Answered> = {
  ask: (provider, call) => provider.complete(call),
  begun: (attempt, answer) => {
    attempt.ended(null, answer.upstreamId);
    return { attempt, answer };
  },
};

const STREAM: Kind<Omit<Streaming, "attempt">, Streaming> = {
  ask: async (provider, call) => {
    const stream = await provider.stream(call);
    const rest = stream.parts[Symbol.asyncIterator]();
    return { first: await firstParts(rest), rest, upstreamId: () => stream.upstreamId() };
  },
  begun: (attempt, stream) => ({ attempt, ...stream }),
};

/** Calls candidates until one has answered in full. Returns the last `Failure`, or a `Refusal` if none is configured here. */
export const dispatchAnswer = (
  ports: DispatchPorts,
  hold: Hold,
  signal: CallSignal,
): Promise<Answered | Failure | Refusal> => firstToAnswer(ports, hold, WHOLE, signal);

/** Calls candidates until one has streamed its first part. Returns the same errors. */
export const dispatchStream = (
  ports: DispatchPorts,
  hold: Hold,
  signal: CallSignal,
): Promise<Streaming | Failure | Refusal> => firstToAnswer(ports, hold, STREAM, signal);

async function firstToAnswer<Told, Begun>(
  ports: DispatchPorts,
  hold: Hold,
  kind: Kind<Told, Begun>,
  signal: CallSignal,
): Promise<Begun | Failure | Refusal> {
  let last: Failure | null = null;
  const { candidates } = hold.admitted;
  for (const candidate of candidates) {
    const provider = ports.providers.get(candidate.release.provider);
    if (provider === undefined) continue;
    const attempt = new Attempt(ports, hold, candidate);
    try {
      const told = await kind.ask(provider, attempt.call(signal));
      for (const { body } of candidates) body.sent();
      hold.admitted.request.written = null;
      return kind.begun(attempt, told);
    } catch (error) {
      last = asFailure(error);
      attempt.ended(last, last.upstream.id ?? null);
      crashPoint("after_provider_refusal");
      if (last.executed !== "no" || CALLERS_OWN.has(last.reason)) return last;
    }
  }
  return last ?? noProvider();
}

/** Reads until the first part arrives; an upstream that ends before it has failed. */
async function firstParts(parts: AsyncIterator<Part[]>): Promise<Part[]> {
  for (;;) {
    const { done, value } = await parts.next();
    if (done) throw new Failure("broken", "unknown", "the stream ended before its first part");
    if (value.length > 0) return value;
  }
}

/** The attempt's class distinguishes refusals for the caller's own mistake from those for ours. */
const classOf = (hold: Hold, failure: Failure): string =>
  callersMistake(hold, failure) === null ? failure.reason : "bad_request";

/** Adapters throw `Failure` only; anything else is a bug in them and proves nothing about the call. */
export function asFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  return new Failure("broken", "unknown", error instanceof Error ? error.message : "unknown error");
}
