// The two load generators. Closed loop: a fixed number in flight, for CPU figures. Open loop: Poisson arrivals at a
// fixed rate, with each latency counted from the scheduled start, so that a slow server cannot delay its own
// measurement (performance.md §4.3).
import { Connection } from "./connection.ts";
import type { Origin } from "./connection.ts";
import type { Reply } from "./reply-reader.ts";

export interface LoadResult {
  requests: number;
  /** Replies with an unexpected status, and lost connections. */
  errors: number;
  events: number;
  seconds: number;
  /** Milliseconds to the end of each reply. */
  latenciesMs: number[];
  /** Milliseconds to the first event of a stream, or to the head of a JSON reply. */
  firstBytesMs: number[];
}

export interface Load {
  origin: Origin;
  request: Uint8Array;
  expectStatus?: number;
}

export interface ClosedLoad extends Load {
  concurrency: number;
  /** Ends at whichever comes first; requests in flight are finished and counted. */
  durationMs?: number;
  requests?: number;
  /** Starts are spread evenly over this time, so that streams do not run in lockstep. */
  spreadMs?: number;
}

class Recorder {
  readonly result: LoadResult = {
    requests: 0,
    errors: 0,
    events: 0,
    seconds: 0,
    latenciesMs: [],
    firstBytesMs: [],
  };
  readonly #startedMs = performance.now();
  readonly #expectStatus: number;
  constructor(load: Load) {
    this.#expectStatus = load.expectStatus ?? 200;
  }
  take(reply: Reply, fromMs: number): void {
    const { result } = this;
    result.requests += 1;
    result.events += reply.events;
    if (reply.status !== this.#expectStatus) result.errors += 1;
    result.latenciesMs.push(reply.endedAtMs - fromMs);
    result.firstBytesMs.push(reply.firstByteAtMs - fromMs);
  }
  lost(): void {
    this.result.errors += 1;
  }
  end(): LoadResult {
    this.result.seconds = (performance.now() - this.#startedMs) / 1000;
    return this.result;
  }
}

export async function closedLoop(load: ClosedLoad): Promise<LoadResult> {
  const connections = await Promise.all(
    Array.from({ length: load.concurrency }, () => Connection.open(load.origin)),
  );
  const recorder = new Recorder(load);
  const endMs = performance.now() + (load.durationMs ?? Number.POSITIVE_INFINITY);
  let left = load.requests ?? Number.POSITIVE_INFINITY;
  const gapMs = (load.spreadMs ?? 0) / load.concurrency;
  const run = async (connection: Connection, index: number): Promise<void> => {
    if (gapMs > 0) await Bun.sleep(gapMs * index);
    while (left > 0 && performance.now() < endMs) {
      left -= 1;
      const fromMs = performance.now();
      try {
        recorder.take(await connection.send(load.request), fromMs);
      } catch {
        recorder.lost();
      }
    }
    connection.close();
  };
  await Promise.all(connections.map(run));
  return recorder.end();
}

export interface OpenLoad extends Load {
  ratePerSecond: number;
  durationMs: number;
}

/** The number of connections grows with the requests in flight and they are reused, like those of a pooled client. */
export async function openLoop(load: OpenLoad): Promise<LoadResult> {
  const idle = await Promise.all(Array.from({ length: 32 }, () => Connection.open(load.origin)));
  const recorder = new Recorder(load);
  const flying = new Set<Promise<void>>();
  const fire = async (scheduledMs: number): Promise<void> => {
    try {
      const connection = idle.pop() ?? (await Connection.open(load.origin));
      recorder.take(await connection.send(load.request), scheduledMs);
      idle.push(connection);
    } catch {
      recorder.lost();
    }
  };
  const endMs = performance.now() + load.durationMs;
  const gapMs = (): number => (-Math.log(1 - Math.random()) * 1000) / load.ratePerSecond;
  for (let nextMs = performance.now() + gapMs(); nextMs < endMs; ) {
    while (nextMs <= performance.now()) {
      const flight: Promise<void> = fire(nextMs).finally(() => flying.delete(flight));
      flying.add(flight);
      nextMs += gapMs();
    }
    await Bun.sleep(1);
  }
  await Promise.all(flying);
  for (const connection of idle) connection.close();
  return recorder.end();
}

/** Sends `count` requests at the same time, each on its own open connection; returns the replies with their bodies. */
export async function burst(load: Load, count: number): Promise<Reply[]> {
  const connections = await Promise.all(Array.from({ length: count }, () => Connection.open(load.origin)));
  const replies = await Promise.all(
    connections.map((connection) => connection.send(load.request, "keep-body")),
  );
  for (const connection of connections) connection.close();
  return replies;
}
