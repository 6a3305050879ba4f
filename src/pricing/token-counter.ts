// Asks the counting thread, chunk by chunk: many texts take turns, one question is short enough to bound, and a thread
// that died or hangs is replaced. If it cannot be had at all, this thread counts in small steps (hardening S22).
import { ownThread } from "../lib/program.ts";
import { countText, cutAt } from "./token-pieces.ts";
import type { TableName } from "./vocabulary.ts";

/** One question takes some 10 ms of counting; random ideographs without a blank, the worst, 0.7 s. */
const CHUNK_CHARACTERS = 1 << 16;
/** What this thread may count before others get their turn: about 2 ms at worst. */
const STEP_CHARACTERS = 1 << 11;
/** Loading the tables takes 40 ms on an idle machine; silence beyond this is a hung thread. */
const ANSWER_TIMEOUT_MS = 30_000;
/** The tables are given back after this much rest. */
const IDLE_MS = 600_000;

export interface CountQuestion {
  id: number;
  text: string;
  tokenizer: TableName;
}
export type CountAnswer = { id: number; tokens: number } | { id: number; error: string };

interface Waiter {
  resolve(tokens: number): void;
  reject(error: Error): void;
}

export class TokenCounter {
  private worker: Worker | null = null;
  private readonly waiting = new Map<number, Waiter>();
  private watchdog: Timer | null = null;
  private nextId = 1;

  constructor(private readonly source = ownThread("src/pricing/token-worker.ts")) {}

  /** Tokens of a text. Null when the time limit passed first; without a limit it always answers. */
  async count(
    text: string,
    tokenizer: TableName,
    timeLimitMs = Number.POSITIVE_INFINITY,
  ): Promise<number | null> {
    const startedAtMs = performance.now();
    let tokens = 0;
    for (let start = 0; start < text.length; ) {
      if (performance.now() - startedAtMs > timeLimitMs) return null;
      const end = cutAt(text, start, CHUNK_CHARACTERS);
      tokens += await this.countChunk(text.slice(start, end), tokenizer);
      start = end;
    }
    return tokens;
  }

  /** Ends the thread; the next count starts a new one. Open counts go on elsewhere. */
  stop(): void {
    this.abandon(new Error("the counting thread was stopped"));
  }

  private async countChunk(text: string, tokenizer: TableName): Promise<number> {
    for (let attempt = 0; attempt < 2; attempt += 1) {
      try {
        return await this.ask(text, tokenizer);
      } catch {
        // The thread is gone; a new one gets one more try.
      }
    }
    return countHere(text, tokenizer);
  }

  private ask(text: string, tokenizer: TableName): Promise<number> {
    return new Promise((resolve, reject) => {
      const id = this.nextId;
      this.nextId += 1;
      const worker = (this.worker ??= this.start());
      this.waiting.set(id, { resolve, reject });
      this.watch();
      worker.postMessage({ id, text, tokenizer } satisfies CountQuestion);
    });
  }

  private start(): Worker {
    const worker = new Worker(this.source);
    worker.unref();
    worker.addEventListener("message", ({ data }: MessageEvent<CountAnswer>) => {
      const waiter = this.waiting.get(data.id);
      this.waiting.delete(data.id);
      this.watch();
      if ("tokens" in data) waiter?.resolve(data.tokens);
      else waiter?.reject(new Error(data.error));
    });
    worker.addEventListener("error", (event) => {
      event.preventDefault();
      if (this.worker === worker) this.abandon(new Error(event.message));
    });
    return worker;
  }

  /** One timer: a hung thread while somebody waits, an idle one while nobody does. Neither keeps the process alive. */
  private watch(): void {
    if (this.watchdog !== null) clearTimeout(this.watchdog);
    const waitMs = this.waiting.size > 0 ? ANSWER_TIMEOUT_MS : IDLE_MS;
    this.watchdog = setTimeout(() => this.abandon(new Error("the counting thread is silent")), waitMs);
    this.watchdog.unref();
  }

  private abandon(error: Error): void {
    if (this.watchdog !== null) clearTimeout(this.watchdog);
    this.watchdog = null;
    this.worker?.terminate();
    this.worker = null;
    const waiters = [...this.waiting.values()];
    this.waiting.clear();
    for (const waiter of waiters) waiter.reject(error);
  }
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
