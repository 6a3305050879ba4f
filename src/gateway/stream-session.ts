// A stream's parts as frames, what came of them, and how far they have got (wire.md §3, money.md §4).
import type { Checkpoint } from "../ledger/ledger.ts";
import { promptTokensWithin } from "../pricing/tokens.ts";
import { Failure } from "../providers/failure.ts";
import type { FinishReason, Part, ProviderUsage } from "../providers/provider.ts";
import { type Bill, billOf } from "./bill.ts";
import { Delivered } from "./delivered.ts";
import { asFailure, type Streaming } from "./dispatch.ts";
import type { StreamPrinter } from "./formats/format.ts";
import type { Candidate, Hold } from "./hold.ts";
import type { ReplayBuffer } from "./replay-buffer.ts";
import type { CallScope } from "./call-scope.ts";
import type { Progressing } from "./progress-log.ts";
import { printGateway, receiptOf } from "./receipt.ts";

/** The inputs of a session: the hold, who may end it, how it is printed, and what is kept of it. */
export interface Streamed {
  hold: Hold;
  callScope: CallScope;
  frames: StreamPrinter;
  replay: ReplayBuffer;
}

interface Progress {
  usage: ProviderUsage | null;
  /** How much had been delivered when the usage was reported: it does not cover what came later. */
  usageAt: number;
  /** Choices that have not had their finish part. */
  unfinished: Set<number>;
  /** Choices that were refused, or withheld by a filter. */
  refused: Set<number>;
  last: { choice: number; reason: FinishReason } | null;
  firstPartMs: number | null;
}

/** The result of a stream, for its settlement and its last frames. */
export interface Ended {
  candidate: Candidate;
  bill: Bill;
  failure: Failure | null;
  progress: Progress;
  /** Frames of choices that were cut, before the last finish. */
  early: string;
  last: { choice: number; reason: FinishReason };
}

/** Passed explicitly, because the runtime's default reason, an exception with its stack, costs 14 µs. */
const OVER = new Error("the stream has ended");
/** The deadline of the whole request passed while its provider was sending: nobody's failure. */
const outOfTime = (): Failure => new Failure("deadline", "unknown", "the deadline of the request passed");
const AT_END = { done: true, value: undefined } as const;

/** One stream, pulled by `relay`: reads, prints, and records how far the client has taken it. */
export class StreamSession implements Progressing {
  private readonly delivered: Delivered;
  private readonly progress: Progress;
  private failure: Failure | null = null;
  /** The upstream exceeded its maximum. */
  private overrun = false;
  private noted = false;
  /** Pieces of the kept stream that its client has accepted. */
  private accepted = 0;
  /** What the ledger has, including the checkpoint being written. */
  private logged = { pieces: 0, chunks: 0, tokens: 0, promptTokens: 0 };
  private loggingPieces = 0;
  private promptCount: Promise<void> | null = null;
  /** 0 until they are counted. */
  private promptTokens = 0;
  /** Ends a count in progress; created with the first count. */
  private counting: AbortController | null = null;

  constructor(
    private readonly stream: Streamed,
    private readonly streaming: Streaming,
  ) {
    const { request, organizationId, outputTokensMax, startedAtMs } = stream.hold.admitted;
    this.delivered = new Delivered(
      streaming.attempt.candidate.release.tokenizer,
      outputTokensMax,
      organizationId,
    );
    this.progress = {
      usage: null,
      usageAt: 0,
      unfinished: new Set(Array.from({ length: request.n }, (_, choice) => choice)),
      refused: new Set(),
      last: null,
      firstPartMs: streaming.first.every(({ type }) => type === "usage")
        ? null // its client left before it
        : Math.round(performance.now() - startedAtMs),
    };
  }

  /** The role, and what the first read brought. */
  first(): string {
    const { hold, frames } = this.stream;
    const { attempt, first } = this.streaming;
    return frames.begin(printGateway(receiptOf(hold, attempt.candidate, null))) + this.show(first);
  }

  /** The next read; done if the upstream has failed or exceeded its maximum. Pass a rejection to `broken`. */
  read(): Promise<IteratorResult<Part[], unknown>> {
    this.accept();
    if (this.failure !== null) return Promise.resolve(AT_END);
    return this.delivered.suspicious ? this.counted() : this.streaming.rest.next();
  }

  /** The same if the upstream may have exceeded its maximum. */
  private async counted(): Promise<IteratorResult<Part[], unknown>> {
    this.overrun = await this.delivered.overrun();
    return this.overrun ? AT_END : await this.streaming.rest.next();
  }

  /** The frames of a read, possibly none; null at the end. */
  shown({ done, value }: IteratorResult<Part[], unknown>): string | null {
    return done === true ? null : this.show(value as Part[]);
  }

  /** Reading failed: the stream ends with that. */
  broken(error: unknown): null {
    const { reason } = this.stream.callScope;
    this.failure = reason?.reason === "timeout" ? outOfTime() : (reason ?? asFailure(error));
    return null;
  }

  async count(): Promise<void> {
    const { body, release } = this.streaming.attempt.candidate;
    const { organizationId } = this.stream.hold.admitted;
    this.counting ??= new AbortController();
    const limits = { organizationId, lane: "progress", signal: this.counting.signal } as const;
    this.promptCount ??= promptTokensWithin(body, release, limits).then(({ kind, tokens }) => {
      if (kind === "exact") this.promptTokens = tokens;
    });
    await Promise.all([this.promptCount, this.delivered.countAccepted()]);
  }

  checkpoint(): Checkpoint | null {
    const { hold, replay } = this.stream;
    const { organizationId, requestId } = hold.admitted;
    const deliveredTokens = this.delivered.acceptedAtLeast;
    const bytes = replay.slice(this.logged.pieces, this.accepted);
    // If nothing was delivered a crash charges nothing, so the prompt's count is not worth a write.
    const counted = deliveredTokens > 0 && this.promptTokens !== this.logged.promptTokens;
    if (deliveredTokens === this.logged.tokens && bytes === null && !counted) return null;
    this.loggingPieces = this.accepted;
    return {
      organizationId,
      requestId,
      releaseDigest: this.streaming.attempt.candidate.release.digest,
      promptTokens: this.promptTokens,
      deliveredTokens,
      attempts: hold.attempts,
      chunk: bytes === null ? null : { seq: this.logged.chunks, bytes },
    };
  }

  kept({ chunk, promptTokens, deliveredTokens }: Checkpoint): void {
    const chunks = this.logged.chunks + (chunk === null ? 0 : 1);
    this.logged = { pieces: this.loggingPieces, chunks, tokens: deliveredTokens, promptTokens };
  }

  /** What was handed over before has been taken: only then does the next read begin. */
  private accept(): void {
    this.accepted = this.stream.replay.length;
    this.delivered.accept();
  }

  /**
   * After an exception of our own: what was delivered before it is priced by our own count, whatever the provider reported. The
   * provider is not blamed. Rejects if even that cannot be priced.
   */
  giveUp(): Promise<Ended> {
    this.noteEnd(null);
    this.failure = new Failure("broken", "unknown", "the gateway could not deliver the answer");
    this.progress.usage = null;
    this.streaming.attempt.disregard();
    return this.end();
  }

  /** Closes the upstream and prices what arrived. */
  async end(): Promise<Ended> {
    const { streaming, progress, failure, delivered } = this;
    const { attempt } = streaming;
    const { candidate } = attempt;
    this.counting?.abort(OVER);
    this.noteEnd(failure);
    if (failure !== null || progress.unfinished.size > 0) await streaming.rest.return?.();
    const bill = await billOf(this.stream.hold, candidate, {
      usage: progress.usage,
      characters: delivered.characters,
      deliveredTokens: () => delivered.count(),
      final: failure === null && progress.unfinished.size === 0 && progress.usageAt >= delivered.characters,
      refused: progress.refused.size === this.stream.hold.admitted.request.n,
      failed: failure !== null,
      overrun: this.overrun,
      attempt,
    });
    return { candidate, bill, failure, progress, ...this.finishes() };
  }

  /** Once: the first report of how the call went is the attempt's. */
  private noteEnd(failure: Failure | null): void {
    const { attempt, upstreamId } = this.streaming;
    if (!this.noted) attempt.ended(failure, upstreamId());
    this.noted = true;
  }

  /** A stream that was cut at its maximum still ends every choice; the last finish is sent with the receipt. */
  private finishes(): Pick<Ended, "early" | "last"> {
    const { unfinished, last } = this.progress;
    if (last !== null) return { early: "", last };
    const cut = this.failure === null ? [...unfinished] : [];
    const final = cut.pop() ?? 0;
    const early = cut.map((choice) => this.stream.frames.finish(choice, "length")).join("");
    return { early, last: { choice: final, reason: "length" } };
  }

  /** Prints what a read brought; keeps back the last finish and the usage, which are sent with the receipt. */
  private show(parts: readonly Part[]): string {
    const { progress, delivered } = this;
    const { frames } = this.stream;
    let text = "";
    for (const part of parts) {
      if (part.type === "usage") {
        progress.usage = part.usage;
        progress.usageAt = delivered.characters;
      } else if (part.type === "finish") {
        progress.unfinished.delete(part.choice);
        if (part.guarded === true) delivered.disown(part.choice);
        if (part.reason === "content_filter") progress.refused.add(part.choice);
        if (progress.unfinished.size > 0) text += frames.finish(part.choice, part.reason);
        else progress.last = part;
      } else {
        try {
          text += frames.part(part);
        } catch (error) {
          this.failure = asFailure(error); // what cannot be printed was not delivered
          return text;
        }
        delivered.add(part);
        if (part.type === "refusal") progress.refused.add(part.choice);
      }
    }
    return text;
  }
}
