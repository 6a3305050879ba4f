// Records in the ledger how far running streams have got (money.md §4, §8.6), so that a crash is charged by evidence and a caller's
// key gets back what was sent. One timer for all streams, and one write of what all of them have delivered. No stream waits for it,
// and a stream whose progress the store refuses goes on unharmed.
import { Refusal } from "../domain/refusals.ts";
import type { Checkpoint, Ledger } from "../ledger/ledger.ts";
import type { Jobs } from "../lib/jobs.ts";
import { type Member, Roster } from "../lib/roster.ts";
import { crashPoint } from "../lib/crash-point.ts";

/** What is stored is behind what was sent by at most this much. */
const TICK_MS = 200;
/** A slower count is written as far as it is known: the next write has the rest. */
const COUNTED_WITHIN_MS = 20;

/** A running stream, as the log sees it. */
export interface Progressing {
  /** Counts what its client has taken; `checkpoint` has it once this resolves. */
  count(): Promise<void>;
  /** What was delivered since the last one; null if nothing was. */
  checkpoint(): Checkpoint | null;
  /** The store has accepted it. */
  kept(checkpoint: Checkpoint): void;
}

interface Followed extends Member {
  stream: Progressing;
  /** Its last checkpoint is still being written. */
  busy: boolean;
}

/** Ticks only while a stream runs. */
export class ProgressLog {
  private readonly followed = new Roster<Followed>();
  private stopTicking: (() => void) | null = null;

  constructor(
    private readonly ledger: Pick<Ledger, "checkpoint">,
    private readonly jobs: Jobs,
  ) {}

  /** Follows the stream until the returned function is called. */
  follow(stream: Progressing): () => void {
    const followed: Followed = { stream, busy: false, rosterPlace: -1 };
    this.followed.add(followed);
    this.stopTicking ??= this.jobs.tick("progress_log", TICK_MS, () => this.tick());
    return () => {
      this.followed.delete(followed);
      if (this.followed.size > 0) return;
      this.stopTicking?.();
      this.stopTicking = null;
    };
  }

  private tick(): void {
    const due = this.followed.all().filter(({ busy }) => !busy);
    for (const followed of due) followed.busy = true;
    this.jobs.run("progress_log", () => this.keepAll(due));
  }

  /** All streams are passed to the ledger in one call, which makes one transaction of them. */
  private async keepAll(due: readonly Followed[]): Promise<void> {
    const failed = (error: unknown): void => this.jobs.failed("progress_log", error);
    await soon(due.map(({ stream }) => stream.count().catch(failed)));
    for (const followed of due) this.jobs.run("progress_log", () => this.keep(followed));
  }

  private async keep(followed: Followed): Promise<void> {
    try {
      const checkpoint = followed.stream.checkpoint();
      if (checkpoint === null || !this.followed.has(followed)) return;
      const { kind } = await this.ledger.checkpoint(checkpoint);
      if (kind === "kept") followed.stream.kept(checkpoint);
      crashPoint("mid_stream");
    } catch (error) {
      if (!(error instanceof Refusal)) throw error; // a store that is down is not a bug
    } finally {
      followed.busy = false;
    }
  }
}

async function soon(counts: Promise<void>[]): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, COUNTED_WITHIN_MS);
  });
  try {
    await Promise.race([Promise.all(counts), late]);
  } finally {
    clearTimeout(timer);
  }
}
