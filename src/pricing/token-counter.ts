// Counts on one thread for many: chunk by chunk, lanes in their order, organizations in turns, so that nobody's long text
// keeps others waiting for more than a chunk of each. What the thread cannot count is counted here, in small steps.
import { CountingThread } from "./counting-thread.ts";
import { countText, cutAt } from "./token-pieces.ts";
import { type TakesTurns, Turns } from "../limits/turns.ts";
import type { TableName } from "./vocabulary.ts";

/** What one turn counts of a text: some 2 ms; random ideographs without a blank, the worst, 15 ms. */
const CHUNK_CHARACTERS = 1 << 14;
/** What this thread may count before others get their turn: about 2 ms at worst. */
const STEP_CHARACTERS = 1 << 11;
/** A chunk is asked of so many threads, one after the other, before it is counted here. */
const THREADS_PER_CHUNK = 2;

export interface CountLimits {
  /** Whose turn it takes. */
  organizationId: string;
  /** Of the text, as it weighs on `waiting`. */
  bytes?: number;
  /** 0 goes before 1. */
  rank: 0 | 1;
  /** Counting stops when there are more tokens than this. */
  atMost?: number;
  /** Milliseconds from now until counting stops, its wait for a turn included. */
  deadlineMs?: number;
  signal?: AbortSignal;
}

/** `above`, `late`, `left`: stopped at the maximum, the deadline, the signal; `tokens` counted until then. */
export interface Count {
  kind: "exact" | "above" | "late" | "left";
  tokens: number;
}

interface Job extends TakesTurns, Pick<CountLimits, "rank"> {
  tokenizer: TableName;
  /** Made when its turn comes: texts that wait take no room. */
  text: string | (() => string);
  atMost: number;
  /** Characters that have been given to the thread. */
  given: number;
  tokens: number;
  end(kind: Count["kind"]): void;
  fail(error: unknown): void;
}

interface Chunk {
  job: Job;
  text: string;
  tokenizer: TableName;
}

export class TokenCounter {
  private readonly lanes = [new Turns<Job>(), new Turns<Job>()] as const;
  private running = false;

  constructor(private readonly thread = new CountingThread()) {}

  /** Bytes of texts that are not counted yet, of one organization or of all. */
  waiting(organizationId?: string): number {
    return this.lanes[0].waiting(organizationId) + this.lanes[1].waiting(organizationId);
  }

  /** Tokens of a text. Without a maximum, a deadline and a signal it is always `exact`. */
  count(text: string | (() => string), tokenizer: TableName, limits: CountLimits): Promise<Count> {
    const { organizationId, rank, atMost = Number.POSITIVE_INFINITY, bytes = 0, deadlineMs, signal } = limits;
    if (signal?.aborted) return Promise.resolve({ kind: "left", tokens: 0 });
    return new Promise((resolve, reject) => {
      const lane = this.lanes[rank];
      const leave = (): void => job.end("left");
      let timer: Timer | undefined;
      const forget = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", leave);
        lane.remove(job);
      };
      const job: Job = {
        organizationId,
        rank,
        bytes,
        tokenizer,
        text,
        atMost,
        given: 0,
        tokens: 0,
        end: (kind) => {
          forget();
          resolve({ kind, tokens: job.tokens });
        },
        fail: (error) => {
          forget();
          reject(error);
        },
      };
      if (deadlineMs !== undefined) timer = setTimeout(() => job.end("late"), deadlineMs);
      signal?.addEventListener("abort", leave, { once: true });
      lane.add(job);
      this.start();
    });
  }

  /** Ends the thread; the next count starts a new one. Open counts go on. */
  stop(): void {
    this.thread.stop();
  }

  /** After the events of this tick: what they ask shares a question. */
  private start(): void {
    if (this.running) return;
    this.running = true;
    queueMicrotask(() => void this.run());
  }

  /** The thread has its next question before anybody is told of the last: what they do then takes time here, not there. */
  private async run(): Promise<void> {
    try {
      for (let chunks = this.take(); chunks.length > 0; chunks = this.take()) {
        const counted = await this.counted(chunks);
        for (const [index, { job }] of chunks.entries()) job.tokens += counted[index] ?? 0;
        for (const { job } of chunks) {
          if (job.given === textOf(job).length) job.end("exact");
          else if (job.tokens > job.atMost) job.end("above");
        }
      }
    } finally {
      this.running = false;
    }
  }

  /** One question's worth: short texts of many, or a chunk of a long one. */
  private take(): Chunk[] {
    const chunks: Chunk[] = [];
    for (let characters = 0; characters < CHUNK_CHARACTERS; ) {
      const job = this.lanes[0].next() ?? this.lanes[1].next();
      if (job === null) break;
      const text = madeFor(job);
      if (text === null) continue;
      const end = cutAt(text, job.given, CHUNK_CHARACTERS);
      chunks.push({ job, text: text.slice(job.given, end), tokenizer: job.tokenizer });
      characters += end - job.given;
      job.given = end;
      if (end === text.length) this.lanes[job.rank].remove(job);
    }
    return chunks;
  }

  private async counted(chunks: readonly Chunk[]): Promise<number[]> {
    for (let threads = 0; threads < THREADS_PER_CHUNK; threads += 1) {
      try {
        return await this.thread.ask(chunks.map(({ text, tokenizer }) => ({ text, tokenizer })));
      } catch {
        // The thread is gone; a new one gets the next try.
      }
    }
    const tokens: number[] = [];
    for (const chunk of chunks) tokens.push(await this.countedHere(chunk));
    return tokens;
  }

  private async countedHere({ job, text, tokenizer }: Chunk): Promise<number> {
    try {
      return await countHere(text, tokenizer);
    } catch (error) {
      job.fail(error); // its table cannot be read
      return 0;
    }
  }
}

/** Null where it cannot be made: that count fails, and no other one. */
function madeFor(job: Job): string | null {
  try {
    return textOf(job);
  } catch (error) {
    job.fail(error);
    return null;
  }
}

function textOf(job: Job): string {
  if (typeof job.text === "function") job.text = job.text();
  return job.text;
}

async function countHere(text: string, tokenizer: TableName): Promise<number> {
  let tokens = 0;
  for (let start = 0; start < text.length; ) {
    const end = cutAt(text, start, STEP_CHARACTERS);
    tokens += await countText(text.slice(start, end), tokenizer);
    start = end;
    await new Promise(setImmediate);
  }
  return tokens;
}
