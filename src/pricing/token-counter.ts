// Counts for many callers on one thread: chunk by chunk, lanes in order, organizations in turns, so that a long
// text delays others by no more than a chunk of each. What was counted before is known, what the thread cannot count is
// counted here, in small steps.
import { CountedChunks } from "./counted-chunks.ts";
import { CountingThread } from "./counting-thread.ts";
import { countText, cutAt } from "./token-pieces.ts";
import { type TakesTurns, Turns } from "../limits/turns.ts";
import type { TableName } from "./vocabulary.ts";

/** The characters of a text counted in one turn: some 2 ms; random ideographs without a space, the worst case, 15 ms. */
const CHUNK_CHARACTERS = 1 << 14;
/** The characters that this thread may count before others get their turn: about 2 ms at worst. */
const STEP_CHARACTERS = 1 << 11;
/** Rounds of known chunks in one piece. */
const KNOWN_ROUNDS = 8;
/** The number of threads that a chunk is tried on, one after the other, before it is counted here. */
const THREADS_PER_CHUNK = 2;

export interface CountLimits {
  /** The organization whose turn it takes. */
  organizationId: string;
  /** The size of the text, as counted in `waiting`. */
  bytes?: number;
  /** 0 goes before 1. */
  rank: 0 | 1;
  /** Counting stops when there are more tokens than this. */
  atMost?: number;
  /** Milliseconds from now until counting stops, including the wait for a turn. */
  deadlineMs?: number;
  signal?: AbortSignal;
}

/** `above`, `late`, `left`: stopped at the maximum, the deadline, the signal; `tokens` is the count until then. */
export interface Count {
  kind: "exact" | "above" | "late" | "left";
  tokens: number;
}

interface Job extends TakesTurns, Pick<CountLimits, "rank"> {
  tokenizer: TableName;
  /** Created when its turn comes: waiting texts take no memory. */
  text: string | (() => string);
  atMost: number;
  /** Characters given to the thread so far. */
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
  private readonly known = new CountedChunks();
  private knownRounds = 0;

  constructor(private readonly thread = new CountingThread()) {}

  /** Returns the bytes of texts that are not counted yet, of one organization or of all. */
  waiting(organizationId?: string): number {
    return this.lanes[0].waiting(organizationId) + this.lanes[1].waiting(organizationId);
  }

  /** Counts the tokens of a text. Without a maximum, a deadline and a signal it is always `exact`. */
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

  /** Ends the thread; the next count starts a new one. Open counts continue. */
  stop(): void {
    this.thread.stop();
  }

  /** Runs after the events of this tick, so that their counts share a question. */
  private start(): void {
    if (this.running) return;
    this.running = true;
    queueMicrotask(() => void this.run());
  }

  /** The thread gets its next question before callers get the last answer, so that it counts while they continue. */
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

  /** Returns one question's worth: short texts of many, or a chunk of a long one. */
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

  /** The chunks that are not known are counted, and known from then on. */
  private async counted(chunks: readonly Chunk[]): Promise<number[]> {
    const { known } = this;
    const named = chunks.map((chunk) => {
      const { text, tokenizer, job } = chunk;
      const key = known.keyOf({ text, tokenizer, organizationId: job.organizationId });
      return { chunk, key, tokens: key === null ? null : known.tokensOf(key) };
    });
    const unknown = named.filter(({ tokens }) => tokens === null);
    if (unknown.length === 0) await this.rest();
    else {
      const counts = await this.countedNow(unknown.map(({ chunk }) => chunk));
      for (const [index, one] of unknown.entries()) {
        one.tokens = counts[index] ?? null;
        if (one.key !== null && one.tokens !== null) known.remember(one.key, one.tokens);
      }
    }
    return named.map(({ tokens }) => tokens ?? 0);
  }

  /** To know a chunk takes some 15 us; after a few, the loop gets its turn, as it does while one is counted. */
  private async rest(): Promise<void> {
    this.knownRounds += 1;
    if (this.knownRounds % KNOWN_ROUNDS === 0) await new Promise(setImmediate);
  }

  /** Null for a chunk whose count has failed. */
  private async countedNow(chunks: readonly Chunk[]): Promise<(number | null)[]> {
    for (let threads = 0; threads < THREADS_PER_CHUNK; threads += 1) {
      try {
        return await this.thread.ask(chunks.map(({ text, tokenizer }) => ({ text, tokenizer })));
      } catch {
        // The thread is gone; a new one gets the next try.
      }
    }
    const tokens: (number | null)[] = [];
    for (const chunk of chunks) tokens.push(await this.countedHere(chunk));
    return tokens;
  }

  private async countedHere({ job, text, tokenizer }: Chunk): Promise<number | null> {
    try {
      return await countHere(text, tokenizer);
    } catch (error) {
      job.fail(error); // its table cannot be read
      return null;
    }
  }
}

/** Returns null if the text cannot be created: that count fails, and no other. */
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
