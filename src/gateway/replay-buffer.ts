// The exact bytes of a keyed stream, kept for its replay (money.md §8.6): followed live by duplicates that arrive while
// it runs, stored when it has ended. Beyond the cap nothing is kept: a retry is told that, and money is unaffected.

import { afterEvent, lastEventOf } from "./event-stream.ts";

/** How a stream ends for its followers: with everything that was sent, in the middle, or beyond what is kept of it. */
export type ReplayEnd = "whole" | "broken" | "unkept";

/** Prints the end of a stream in place of its own; `number` continues from what was sent. */
export type PrintLost = (end: Exclude<ReplayEnd, "whole">, at: { number: number; sent: string }) => string;

/** One stored result holds at most this much (money.md §8.10). */
const KEPT_BYTES_MAX = 8 * 1024 * 1024;

/** What was sent of one stream so far. */
export class ReplayBuffer {
  private size = 0;
  private ended: "no" | ReplayEnd = "no";
  private grown: PromiseWithResolvers<void> | null = null;

  private constructor(private pieces: string[] | null) {}

  /** For a keyed stream. */
  static kept(): ReplayBuffer {
    return new ReplayBuffer([]);
  }

  /** For a stream without a caller's key: nobody can ask for it again, and nothing is kept. */
  static unkept(): ReplayBuffer {
    return new ReplayBuffer(null);
  }

  /** Keeps the text if the stream is kept, and returns it. */
  add(text: string): string {
    if (this.pieces === null) return text;
    this.size += Buffer.byteLength(text);
    if (this.size > KEPT_BYTES_MAX) this.pieces = null;
    else this.pieces.push(text);
    this.wake();
    return text;
  }

  /** The stream has ended: `whole` if everything added was also sent, settled and is final. */
  end(how: ReplayEnd): void {
    if (this.ended !== "no") return;
    this.ended = how;
    this.wake();
  }

  /** All kept bytes and `last`, which nobody may see before it is settled; null if nothing is kept. */
  bytes(last: string): Uint8Array | null {
    return this.pieces === null ? null : Buffer.from(this.pieces.join("") + last);
  }

  get length(): number {
    return this.pieces?.length ?? 0;
  }

  /** The bytes of the pieces from `from` up to `to`; null if there are none, or nothing is kept. */
  slice(from: number, to: number): Uint8Array | null {
    const text = this.pieces?.slice(from, to).join("") ?? "";
    return text === "" ? null : Buffer.from(text);
  }

  /** What was kept from piece `from` on, as one text, and the number of the next piece; null if it is not kept. */
  since(from: number): { text: string; next: number } | null {
    if (this.pieces === null) return null;
    return { text: this.pieces.slice(from).join(""), next: this.pieces.length };
  }

  /** Yields every byte from the first on, then live; after event `lastEventId` if that one is known. */
  async *follow(lastEventId: string | null, printLost: PrintLost): AsyncGenerator<string, void, void> {
    let [next, newest] = [0, ""];
    for (;;) {
      const { ended } = this;
      const kept = this.since(next);
      if (kept === null) return yield printLost("unkept", { number: lastEventOf(newest) + 1, sent: "" });
      const text = next === 0 ? afterEvent(kept.text, lastEventId) : kept.text;
      next = kept.next;
      newest = kept.text || newest;
      if (text !== "") yield text;
      else if (ended === "whole") return;
      else if (ended !== "no") {
        const sent = this.since(0)?.text ?? "";
        return yield printLost(ended, { number: lastEventOf(newest) + 1, sent });
      } else await (this.grown ??= Promise.withResolvers<void>()).promise;
    }
  }

  private wake(): void {
    this.grown?.resolve();
    this.grown = null;
  }
}
