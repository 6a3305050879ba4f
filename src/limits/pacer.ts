// Paces long pieces of work on the main thread, such as parsing a body of a megabyte: one at a time, organizations in turn. After
// each piece the thread is left to other work for as long as the piece took.
import { Refusal } from "../domain/refusals.ts";
import { type TakesTurns, Turns } from "./turns.ts";

/** Whose work it is, its weight, and the signal of the client that waits for it. */
export interface Paced extends TakesTurns {
  signal: AbortSignal;
}

interface Waiting extends TakesTurns {
  begin(): void;
}

interface PacerPorts {
  nowMs(): number;
  /** Calls `resume` in a later turn of the event loop, `ms` milliseconds from now. */
  later(ms: number, resume: () => void): void;
}

/** Rests shorter than a timer's resolution end with the turn. */
const TIMER_MS = 1;

const eventLoop: PacerPorts = {
  nowMs: () => performance.now(),
  later: (ms, resume) => void (ms < TIMER_MS ? setImmediate(resume) : setTimeout(resume, ms)),
};

export class Pacer {
  private readonly turns = new Turns<Waiting>();
  private resting = false;

  constructor(private readonly ports: PacerPorts = eventLoop) {}

  /**
   * Runs the work in its turn, or at once if the thread is not resting, and returns its result. Throws what the work threw, or a
   * `Refusal` if the client left before its turn; the work is then never run.
   */
  run<T>(paced: Paced, work: () => T): Promise<T> {
    const { organizationId, bytes, signal } = paced;
    if (signal.aborted) return Promise.reject(left());
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const leave = (): void => {
      this.turns.remove(waiting);
      reject(left());
    };
    const begin = (): void => {
      signal.removeEventListener("abort", leave);
      this.turns.remove(waiting);
      try {
        resolve(this.timed(work));
      } catch (error) {
        reject(error);
      }
    };
    const waiting: Waiting = { organizationId, bytes, begin };
    signal.addEventListener("abort", leave, { once: true });
    this.turns.add(waiting);
    if (!this.resting) this.turns.next()?.begin();
    return promise;
  }

  private timed<T>(work: () => T): T {
    const { ports } = this;
    const beganMs = ports.nowMs();
    this.resting = true;
    try {
      return work();
    } finally {
      ports.later(ports.nowMs() - beganMs, () => {
        this.resting = false;
        this.turns.next()?.begin();
      });
    }
  }
}

const left = (): Refusal =>
  new Refusal(
    "invalid_request",
    "The client disconnected before its request was read. Send the request again.",
  );
