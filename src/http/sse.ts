// A relayed stream as an HTTP body (wire.md §3): an async generator, which Bun pulls only as fast as the client reads.
// One timer for all streams sends the comments and fillers of silence; Bun's own idle limit cuts a client that has
// stopped reading.
import { KEEP_ALIVE } from "../gateway/event-stream.ts";
import type { Relayed } from "../gateway/relay.ts";
import type { Clock } from "../lib/clock.ts";
import type { Jobs } from "../lib/jobs.ts";

export const STREAM_HEADERS = { "cache-control": "no-cache, no-transform", "x-accel-buffering": "no" };

const COMMENT_AFTER_MS = 15_000;
const FILLER_AFTER_MS = 60_000;
const TICK_MS = 1_000;

type Frame = IteratorResult<string, void>;

interface Open {
  relayed: Relayed;
  /** Monotonic: when the client last got a frame, a comment or a filler. */
  sentAtMs: number;
  lastFrameAtMs: number;
  /** Sends a comment or filler in the place of the frame that is waited for; null while the client has the turn. */
  speak: ((text: string) => void) | null;
}

export class EventStreams {
  private readonly open = new Set<Open>();
  private stopTicking: (() => void) | null = null;
  /** Streams that have not ended: the open ones, and those whose client has left. */
  private unsettled = 0;
  private settled: PromiseWithResolvers<void> | null = null;

  constructor(
    private readonly clock: Clock,
    private readonly options: { failed(error: unknown): void; jobs: Jobs },
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

  /** The body of one stream; counts as open from now on. `client` aborts when its socket closes. */
  body(relayed: Relayed, client: AbortSignal): AsyncIterable<string> {
    const now = this.clock.monotonicMs();
    const stream: Open = { relayed, sentAtMs: now, lastFrameAtMs: now, speak: null };
    this.open.add(stream);
    this.unsettled += 1;
    this.stopTicking ??= this.options.jobs.tick("stream_comments", TICK_MS, () => this.tick());
    return begun(this.frames(stream), client);
  }

  private async *frames(stream: Open): AsyncGenerator<string, void, void> {
    const { frames } = stream.relayed;
    let ended = false;
    try {
      for (let next = frames.next(); ; ) {
        const arrived = await arrival(stream, next);
        stream.speak = null;
        stream.sentAtMs = this.clock.monotonicMs();
        if (typeof arrived === "string") {
          yield arrived;
          continue;
        }
        stream.lastFrameAtMs = stream.sentAtMs;
        if (arrived.done) {
          ended = true;
          return;
        }
        yield arrived.value;
        next = frames.next();
      }
    } catch (error) {
      ended = true; // the relay has settled or has given up by itself
      this.options.failed(error);
      // Cuts the connection. Bun prints on stderr whatever else a body throws, beside the line that has just told of it.
      // oxlint-disable-next-line typescript/only-throw-error
      throw undefined;
    } finally {
      this.drop(stream);
      if (ended) this.end();
      else this.options.jobs.run("abandoned_stream", () => this.abandon(stream.relayed));
    }
  }

  /** The client is gone: the stream is still pulled to its end, so that it settles. */
  private async abandon(relayed: Relayed): Promise<void> {
    relayed.leave();
    try {
      while (!(await relayed.frames.next()).done);
    } catch (error) {
      this.options.failed(error);
    } finally {
      this.end();
    }
  }

  private drop(stream: Open): void {
    this.open.delete(stream);
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
    for (const stream of this.open)
      this.options.jobs.run("stream_comments", () => {
        const { speak } = stream;
        if (speak === null || now - stream.sentAtMs < COMMENT_AFTER_MS) return;
        const filler = now - stream.lastFrameAtMs >= FILLER_AFTER_MS;
        if (filler) stream.lastFrameAtMs = now;
        const text = filler ? stream.relayed.filler() : KEEP_ALIVE;
        stream.speak = null;
        speak(text);
      });
  }
}

/**
 * A generator that runs already, and ends with its client. One that was never pulled would skip its `finally`, and the
 * hold with it: a client may be gone before the first pull.
 */
function begun(frames: AsyncGenerator<string, void, void>, client: AbortSignal): AsyncIterable<string> {
  let first: Promise<Frame> | null = frames.next();
  first.catch(() => {}); // whoever pulls it sees it too
  const leave = (): void => void frames.return();
  if (client.aborted) leave();
  else client.addEventListener("abort", leave, { once: true });
  const next = (): Promise<Frame> => {
    const arrived = first ?? frames.next();
    first = null;
    return arrived;
  };
  return { [Symbol.asyncIterator]: () => ({ next, return: () => frames.return() }) };
}

/** The next frame, or what the silence before it says. */
function arrival(stream: Open, next: Promise<Frame>): Promise<Frame | string> {
  const { promise, resolve, reject } = Promise.withResolvers<Frame | string>();
  stream.speak = resolve;
  next.then(resolve, reject);
  return promise;
}
