// A relayed stream as an HTTP body (wire.md §3): an async iterator, which Bun pulls only as fast as the client reads. One timer for
// all streams sends comments and fillers during silence; Bun's own idle limit cuts a client that has stopped reading.
import { KEEP_ALIVE } from "../gateway/event-stream.ts";
import type { Relayed } from "../gateway/relay.ts";
import type { Clock } from "../lib/clock.ts";
import type { Jobs } from "../lib/jobs.ts";
import { type Member, Roster } from "../lib/roster.ts";

export const STREAM_HEADERS = { "cache-control": "no-cache, no-transform", "x-accel-buffering": "no" };

const COMMENT_AFTER_MS = 15_000;
const FILLER_AFTER_MS = 60_000;
const TICK_MS = 1_000;

type Frame = IteratorResult<string, void>;

const NO_MORE: Frame = { done: true, value: undefined };

/** All open streams of the process. A stream whose client has left counts until its hold has ended. */
export class EventStreams {
  private readonly open = new Roster<StreamBody>();
  private stopTicking: (() => void) | null = null;
  /** Streams that have not ended: open ones, and those whose client has left. */
  private unsettled = 0;
  private settled: PromiseWithResolvers<void> | null = null;

  constructor(
    readonly clock: Clock,
    private readonly options: { failed(error: unknown): void; jobs: Jobs },
  ) {}

  get size(): number {
    return this.open.size;
  }

  /** Resolves when every stream has ended, including those without a client: then all of them are settled. */
  idle(): Promise<void> {
    if (this.unsettled === 0) return Promise.resolve();
    this.settled ??= Promise.withResolvers<void>();
    return this.settled.promise;
  }

  /**
   * The body of one stream, which counts as open from now on. `client` aborts when its socket closes; `sent` is called when the
   * last frame has been taken.
   */
  body(relayed: Relayed, client: AbortSignal, sent?: () => void): AsyncIterable<string> {
    this.unsettled += 1;
    this.stopTicking ??= this.options.jobs.tick("stream_comments", TICK_MS, () => this.tick());
    const body = new StreamBody(relayed, this, sent);
    this.open.add(body);
    if (client.aborted) body.leave();
    else client.addEventListener("abort", body);
    return body;
  }

  /** The relay has settled, or has given up by itself. */
  ended(body: StreamBody): void {
    this.drop(body);
    this.end();
  }

  failed(error: unknown): void {
    this.options.failed(error);
  }

  /** The client is gone: the stream is still pulled to its end, so that it settles. */
  abandoned(body: StreamBody): void {
    this.drop(body);
    this.options.jobs.run("abandoned_stream", () => this.abandon(body.relayed));
  }

  private async abandon(relayed: Relayed): Promise<void> {
    relayed.leave();
    try {
      while (!(await relayed.frames.next()).done);
    } catch (error) {
      this.failed(error);
    } finally {
      this.end();
    }
  }

  private drop(body: StreamBody): void {
    this.open.delete(body);
    if (this.open.size > 0) return;
    this.stopTicking?.();
    this.stopTicking = null;
  }

  private end(): void {
    this.unsettled -= 1;
    if (this.unsettled > 0) return;
    this.settled?.resolve();
    this.settled = null;
  }

  private tick(): void {
    const now = this.clock.monotonicMs();
    for (const body of this.open.all())
      this.options.jobs.run("stream_comments", () => body.breakSilence(now));
  }
}

/**
 * The iterator that Bun pulls: each pull gets the next frame, or what is sent during the silence before it. Not a generator: one
 * more of them costs each frame two promises and three turns of the queue. It starts at construction and ends with its client: a
 * relay that was never pulled would skip its `finally`, and with it the end of its hold, and a client may leave before the first
 * pull.
 */
class StreamBody implements AsyncIterableIterator<string, void, void>, Member {
  rosterPlace = -1;
  /** The pull that is waiting for its frame. */
  private turn: PromiseWithResolvers<Frame> | null = null;
  /** The first frame, if it arrived before it was pulled. */
  private early: Frame | "broken" | null = null;
  /** A pull of the relay is in progress. */
  private pulling = false;
  private over = false;
  /** Monotonic time when the client last got a frame, a comment or a filler. */
  private sentAtMs: number;
  private lastFrameAtMs: number;

  constructor(
    readonly relayed: Relayed,
    private readonly streams: EventStreams,
    private readonly sent: (() => void) | undefined,
  ) {
    this.sentAtMs = this.lastFrameAtMs = streams.clock.monotonicMs();
    this.pull();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Frame> {
    const { early } = this;
    this.early = null;
    // Cuts the connection. Bun would print anything else that a body throws on stderr, in addition to the log line just written.
    // oxlint-disable-next-line typescript/prefer-promise-reject-errors
    if (early === "broken") return Promise.reject(undefined);
    if (early !== null) return Promise.resolve(early);
    if (this.over) return Promise.resolve(NO_MORE);
    this.turn = Promise.withResolvers<Frame>();
    if (!this.pulling) this.pull();
    return this.turn.promise;
  }

  return(): Promise<Frame> {
    this.leave();
    return Promise.resolve(NO_MORE);
  }

  /** The client's signal has fired. */
  handleEvent(): void {
    this.leave();
  }

  /** The client is gone. */
  leave(): void {
    if (this.over) return;
    this.over = true;
    this.streams.abandoned(this);
    this.turn?.resolve(NO_MORE);
  }

  /** If the client is waiting and has received nothing for long, sends a comment or filler instead of the frame. */
  breakSilence(nowMs: number): void {
    const { turn } = this;
    if (turn === null || nowMs - this.sentAtMs < COMMENT_AFTER_MS) return;
    const filler = nowMs - this.lastFrameAtMs >= FILLER_AFTER_MS;
    if (filler) this.lastFrameAtMs = nowMs;
    this.sentAtMs = nowMs;
    this.turn = null;
    turn.resolve({ done: false, value: filler ? this.relayed.filler() : KEEP_ALIVE });
  }

  private pull(): void {
    this.pulling = true;
    this.relayed.frames.next().then(this.arrived, this.broken);
  }

  private readonly arrived = (frame: Frame): void => {
    this.pulling = false;
    if (this.over) return; // pulled to its end separately
    this.sentAtMs = this.lastFrameAtMs = this.streams.clock.monotonicMs();
    if (frame.done === true) {
      this.end();
      this.sent?.();
    }
    const { turn } = this;
    this.turn = null;
    if (turn === null) this.early = frame;
    else turn.resolve(frame);
  };

  private readonly broken = (error: unknown): void => {
    this.pulling = false;
    this.streams.failed(error);
    if (this.over) return;
    this.end();
    if (this.turn === null) this.early = "broken";
    else this.turn.reject(undefined);
  };

  private end(): void {
    this.over = true;
    this.streams.ended(this);
  }
}
