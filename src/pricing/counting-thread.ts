// The counting thread as its callers see it: it takes one question at a time, and a thread that died
// or hangs is replaced on the next question.
import { ownThread } from "../lib/program.ts";
import type { TableName } from "./vocabulary.ts";

/** A question takes some 50 ms of counting at worst, and the tables load in 40 ms; silence beyond this means a hung thread. */
const ANSWER_TIMEOUT_MS = 10_000;
/** The tables are released after this much idle time. */
const IDLE_MS = 600_000;

export interface CountQuestion {
  id: number;
  texts: { text: string; tokenizer: TableName }[];
}
export type CountAnswer = { id: number; tokens: number[] } | { id: number; error: string };

interface Asked {
  id: number;
  resolve(tokens: number[]): void;
  reject(error: Error): void;
}

export class CountingThread {
  private worker: Worker | null = null;
  private asked: Asked | null = null;
  private watchdog: Timer | null = null;
  private nextId = 1;

  constructor(
    private readonly source = ownThread("src/pricing/token-worker.ts"),
    private readonly answerTimeoutMs = ANSWER_TIMEOUT_MS,
  ) {}

  /** Returns the tokens of each text. Rejects if the thread cannot start, dies, is stopped or is silent for ten seconds. */
  ask(texts: CountQuestion["texts"]): Promise<number[]> {
    if (this.asked !== null) throw new Error("the counting thread is asked one thing at a time");
    return new Promise((resolve, reject) => {
      const id = this.nextId;
      this.nextId += 1;
      const worker = (this.worker ??= this.start());
      this.asked = { id, resolve, reject };
      this.watch();
      worker.postMessage({ id, texts } satisfies CountQuestion);
    });
  }

  /** Ends the thread; the next question starts a new one. */
  stop(): void {
    this.abandon(new Error("the counting thread was stopped"));
  }

  private start(): Worker {
    const worker = new Worker(this.source);
    worker.unref();
    worker.addEventListener("message", ({ data }: MessageEvent<CountAnswer>) => {
      const { asked } = this;
      if (asked?.id !== data.id) return;
      this.asked = null;
      this.watch();
      if ("tokens" in data) asked.resolve(data.tokens);
      else asked.reject(new Error(data.error));
    });
    for (const ending of ["error", "close"] as const)
      worker.addEventListener(ending, (event) => {
        event.preventDefault();
        if (this.worker === worker) this.abandon(new Error(`the counting thread ended: ${ending}`));
      });
    return worker;
  }

  /** One timer: for a hung thread while a caller waits, for an idle one otherwise. Neither keeps the process alive. */
  private watch(): void {
    if (this.watchdog !== null) clearTimeout(this.watchdog);
    const waitMs = this.asked === null ? IDLE_MS : this.answerTimeoutMs;
    this.watchdog = setTimeout(() => this.abandon(new Error("the counting thread is silent")), waitMs);
    this.watchdog.unref();
  }

  private abandon(error: Error): void {
    if (this.watchdog !== null) clearTimeout(this.watchdog);
    this.watchdog = null;
    const { worker, asked } = this;
    this.worker = null;
    this.asked = null;
    worker?.terminate();
    asked?.reject(error);
  }
}
