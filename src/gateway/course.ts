// A stream's parts as frames, what came of them, and how far they have got (wire.md §3, money.md §4).
import type { Checkpoint } from "../ledger/ledger.ts";
import { promptTokens } from "../pricing/tokens.ts";
import type { Failure } from "../providers/failure.ts";
import type { FinishReason, Part, ProviderUsage } from "../providers/provider.ts";
import { type Bill, billOf } from "./bill.ts";
import { Delivered } from "./delivered.ts";
import { asFailure, type Streaming } from "./dispatch.ts";
import type { Frames } from "./frames.ts";
import type { Candidate, Hold } from "./hold.ts";
import type { KeptStream } from "./kept-stream.ts";
import type { Lifeline } from "./lifeline.ts";
import type { Progressing } from "./progress-log.ts";
import { printGateway, receiptOf } from "./receipt.ts";

export interface Streamed {
  hold: Hold;
  lifeline: Lifeline;
  frames: Frames;
  kept: KeptStream;
}

interface Progress {
  usage: ProviderUsage | null;
  /** Choices that have not had their finish part. */
  unfinished: number;
  last: { choice: number; reason: FinishReason } | null;
  firstPartMs: number | null;
}

export interface Ended {
  candidate: Candidate;
  bill: Bill;
  failure: Failure | null;
  progress: Progress;
}

export class Course implements Progressing {
  private readonly delivered: Delivered;
  private readonly progress: Progress;
  private failure: Failure | null = null;
  /** Pieces of the kept stream that its client has accepted. */
  private accepted = 0;
  /** What the ledger has, and what the checkpoint under way will add to it. */
  private logged = { pieces: 0, chunks: 0, tokens: 0 };
  private logging = { pieces: 0, tokens: 0 };
  private prompt: Promise<number> | null = null;

  constructor(
    private readonly stream: Streamed,
    private readonly streaming: Streaming,
  ) {
    const { request, outputTokensMax, startedAtMs } = stream.hold.admitted;
    this.delivered = new Delivered(streaming.candidate.release.tokenizer, outputTokensMax);
    this.progress = {
      usage: null,
      unfinished: request.n,
      last: null,
      firstPartMs: Math.round(performance.now() - startedAtMs),
    };
  }

  first(): string {
    const { hold, frames } = this.stream;
    const { candidate, first } = this.streaming;
    return frames.role(printGateway(receiptOf(hold, candidate, null))) + this.show(first);
  }

  /** The frames of the next read, perhaps none; null when the upstream has ended, failed or passed its maximum. */
  async next(): Promise<string | null> {
    this.accept();
    try {
      if (this.delivered.suspicious && (await this.delivered.overrun())) return null;
      const { done, value } = await this.streaming.rest.next();
      return done ? null : this.show(value);
    } catch (error) {
      this.failure = this.stream.lifeline.reason ?? asFailure(error);
      return null;
    }
  }

  get keyed(): boolean {
    return this.stream.hold.admitted.idempotency.callerSupplied;
  }

  async checkpoint(): Promise<Checkpoint | null> {
    const { hold, kept } = this.stream;
    const { organizationId, requestId, request } = hold.admitted;
    const { release } = this.streaming.candidate;
    const bytes = kept.slice(this.logged.pieces, this.accepted);
    const pieces = this.accepted;
    const { exactly, atLeast } = this.delivered.countAccepted();
    this.logging = { pieces, tokens: await soon(exactly, atLeast) };
    const chunk = bytes === null ? null : { seq: this.logged.chunks, bytes };
    if (this.logging.tokens === this.logged.tokens && chunk === null) return null;
    this.prompt ??= promptTokens(request, release);
    return {
      organizationId,
      requestId,
      releaseDigest: release.digest,
      promptTokens: await soon(this.prompt, 0),
      deliveredTokens: this.logging.tokens,
      attempts: hold.attempts,
      chunk,
    };
  }

  kept({ chunk }: Checkpoint): void {
    this.logged = { ...this.logging, chunks: this.logged.chunks + (chunk === null ? 0 : 1) };
  }

  /** What was handed over before has been taken: the next read begins only then. */
  private accept(): void {
    this.accepted = this.stream.kept.length;
    this.delivered.accept();
  }

  /** Closes the upstream and prices what arrived. */
  async end(): Promise<Ended> {
    const { streaming, progress, failure, delivered } = this;
    const { candidate } = streaming;
    streaming.ended(failure);
    if (failure === null && progress.unfinished > 0) await streaming.rest.return?.();
    const bill = await billOf(this.stream.hold, candidate, {
      usage: progress.usage,
      deliveredTokens: () => delivered.count(),
      complete: failure === null,
    });
    return { candidate, bill, failure, progress };
  }

  /** Prints what a read brought; keeps back the last finish and the usage, which travel with the receipt. */
  private show(parts: readonly Part[]): string {
    const { progress, delivered } = this;
    const { frames } = this.stream;
    let text = "";
    for (const part of parts) {
      if (part.type === "usage") progress.usage = part.usage;
      else if (part.type === "finish") {
        progress.unfinished -= 1;
        if (progress.unfinished > 0) text += frames.earlyFinish(part.choice, part.reason);
        else progress.last = part;
      } else if (part.type !== "annotations") {
        delivered.add(part);
        text += frames.part(part);
      }
    }
    return text;
  }
}

/** A tokenizer that is still being loaded must not keep the log waiting: the next checkpoint has the count. */
const SOON_MS = 20;

async function soon(count: Promise<number>, atLeast: number): Promise<number> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<number>((resolve) => {
    timer = setTimeout(resolve, SOON_MS, atLeast);
  });
  try {
    return await Promise.race([count, late]);
  } finally {
    clearTimeout(timer);
  }
}
