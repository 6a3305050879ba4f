// A relayed stream as an HTTP body (wire.md §3): pull-based, so nothing is read ahead of the client. One timer for all
// streams sends the comments and fillers of silence and ends clients that have stopped reading.
import { KEEP_ALIVE } from "../gateway/frames.ts";
import type { Relayed } from "../gateway/relay.ts";
import type { Clock } from "../lib/clock.ts";

export const STREAM_HEADERS = { "cache-control": "no-cache, no-transform", "x-accel-buffering": "no" };

const COMMENT_AFTER_MS = 15_000;
const FILLER_AFTER_MS = 60_000;
const TICK_MS = 1_000;
const encoder = new TextEncoder();

interface Open {
  relayed: Relayed;
  controller: ReadableStreamDefaultController<Uint8Array>;
  /** Monotonic: when the client last got a frame, a comment or a filler. */
  sentAtMs: number;
  lastFrameAtMs: number;
  /** A pull waits for the upstream; otherwise the client is not reading. */
  waiting: boolean;
}

export class EventStreams {
  private readonly open = new Set<Open>();
  /** Streams whose frames have not ended: the open ones, and those whose client has left. */
  private unsettled = 0;
  private settled: PromiseWithResolvers<void> | null = null;
  private timer: ReturnType<typeof setInterval> | null = null;

  /** `idleMs`: how long a client may leave its stream unread. */
  constructor(
    private readonly clock: Clock,
    private readonly options: { idleMs: number; failed(error: unknown): void },
  ) {}

  get size(): number {
    return this.open.size;
  }

  /** Resolves when every stream has ended, those without a client included: then all of them are settled. */
  idle(): Promise<void> {
    if (this.unsettled === 0) return Promise.resolve();
    this.settled ??= Promise.withResolvers<void>();
    return this.settled.promise;
  }

  /** The body of one stream. */
  body(relayed: Relayed): ReadableStream<Uint8Array> {
    let stream: Open;
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          stream = this.add(relayed, controller);
        },
        pull: () => this.pull(stream),
        cancel: () => this.abandon(stream),
      },
      { highWaterMark: 0 },
    );
  }

  private async pull(stream: Open): Promise<void> {
    stream.waiting = true;
    try {
      const { done, value } = await stream.relayed.frames.next();
      stream.waiting = false;
      if (!this.open.has(stream)) return; // the client left meanwhile; `drain` goes on
      stream.sentAtMs = stream.lastFrameAtMs = this.clock.monotonicMs();
      if (!done) return stream.controller.enqueue(encoder.encode(value));
      this.drop(stream);
      this.end();
      stream.controller.close();
    } catch (error) {
      this.options.failed(error);
      if (!this.drop(stream)) return;
      this.end();
      stream.controller.error(error);
    }
  }

  /** The client is gone: the stream is still pulled to its end, so that it settles. */
  private abandon(stream: Open): void {
    if (!this.drop(stream)) return;
    stream.relayed.leave();
    void this.drain(stream.relayed.frames);
  }

  private async drain(frames: Relayed["frames"]): Promise<void> {
    try {
      while (!(await frames.next()).done);
    } catch (error) {
      this.options.failed(error);
    } finally {
      this.end();
    }
  }

  private add(relayed: Relayed, controller: Open["controller"]): Open {
    const now = this.clock.monotonicMs();
    const stream = { relayed, controller, sentAtMs: now, lastFrameAtMs: now, waiting: false };
    this.open.add(stream);
    this.unsettled += 1;
    this.timer ??= setInterval(() => this.tick(), TICK_MS);
    return stream;
  }

  /** False when it was dropped before. */
  private drop(stream: Open): boolean {
    const dropped = this.open.delete(stream);
    if (this.open.size === 0 && this.timer !== null) {
      clearInterval(this.timer);
      this.timer = null;
    }
    return dropped;
  }

  private end(): void {
    this.unsettled -= 1;
    if (this.unsettled > 0) return;
    this.settled?.resolve();
    this.settled = null;
  }

  private tick(): void {
    const now = this.clock.monotonicMs();
    for (const stream of this.open) {
      if (stream.waiting) this.speak(stream, now);
      else if (now - stream.sentAtMs > this.options.idleMs) this.cutStalled(stream);
    }
  }

  private cutStalled(stream: Open): void {
    this.abandon(stream);
    stream.controller.error(new Error("the client stopped reading"));
  }

  private speak(stream: Open, now: number): void {
    const silentMs = now - stream.sentAtMs;
    if (silentMs < COMMENT_AFTER_MS) return;
    const filler = now - stream.lastFrameAtMs >= FILLER_AFTER_MS;
    if (filler) stream.lastFrameAtMs = now;
    stream.sentAtMs = now;
    stream.controller.enqueue(encoder.encode(filler ? stream.relayed.filler() : KEEP_ALIVE));
  }
}
