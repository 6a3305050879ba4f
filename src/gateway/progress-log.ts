// Keeps in the ledger how far running streams have got (money.md §4, §8.6), so that a crash is charged by evidence and
// a caller's key gets back what was sent. One timer for all streams; no stream waits for it, and one whose progress the
// store does not take goes on unharmed.
import { Refusal } from "../contract/refusals.ts";
import type { Checkpoint, Ledger } from "../ledger/ledger.ts";
import { crashPoint } from "../lib/crash-point.ts";

/** Exact bytes of keyed streams are at most this much behind what was sent. */
const TICK_MS = 200;
/** Streams without a caller's key keep a count alone, this often. */
const COUNT_EVERY_MS = 1_000;

/** A running stream, as the log sees it. */
export interface Progressing {
  keyed: boolean;
  /** What was delivered since the checkpoint before; null when that is nothing. */
  checkpoint(): Promise<Checkpoint | null>;
  /** The store has taken it. */
  kept(checkpoint: Checkpoint): void;
}

interface Followed {
  stream: Progressing;
  dueInMs: number;
  busy: boolean;
}

export class ProgressLog {
  private readonly followed = new Set<Followed>();
  private timer: ReturnType<typeof setInterval> | null = null;

  constructor(
    private readonly ledger: Pick<Ledger, "checkpoint">,
    /** Told of bugs; a store that is down is none. */
    private readonly failed: (error: unknown) => void,
  ) {}

  /** Follows the stream until the returned function is called. */
  follow(stream: Progressing): () => void {
    const followed = { stream, dueInMs: everyMs(stream), busy: false };
    this.followed.add(followed);
    this.timer ??= setInterval(() => this.tick(), TICK_MS);
    return () => {
      this.followed.delete(followed);
      if (this.followed.size > 0 || this.timer === null) return;
      clearInterval(this.timer);
      this.timer = null;
    };
  }

  private tick(): void {
    for (const followed of this.followed) {
      followed.dueInMs -= TICK_MS;
      if (followed.dueInMs > 0 || followed.busy) continue;
      followed.dueInMs = everyMs(followed.stream);
      void this.keep(followed);
    }
  }

  private async keep(followed: Followed): Promise<void> {
    followed.busy = true;
    try {
      const checkpoint = await followed.stream.checkpoint();
      if (checkpoint === null || !this.followed.has(followed)) return;
      const { kind } = await this.ledger.checkpoint(checkpoint);
      if (kind === "kept") followed.stream.kept(checkpoint);
      crashPoint("mid_stream");
    } catch (error) {
      if (!(error instanceof Refusal)) this.failed(error);
    } finally {
      followed.busy = false;
    }
  }
}

const everyMs = ({ keyed }: Progressing): number => (keyed ? TICK_MS : COUNT_EVERY_MS);
