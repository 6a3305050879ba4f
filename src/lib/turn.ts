// The turns of the event loop that requests share: requests that arrived in one turn continue together, stage
// by stage, and what they ask of the store becomes one commit at the end of that turn. Separately, each
// request would run the code of all stages before the next; together they run one stage's code many times,
// and it stays in the processor's cache (performance.md §5).
import { drainMicrotasks } from "bun:jsc";

let waiting: (() => void)[] = [];
let ending: (() => void)[] = [];
let begun = false;

/** Resolves in the next turn, for all waiting callers together. */
export const nextTurn = (): Promise<void> => new Promise(wait);

function wait(goOn: () => void): void {
  waiting.push(goOn);
  begin();
}

/**
 * Runs `work` once the requests of the turn have run as far as they can. An error in it affects no other
 * work.
 */
export function atEndOfTurn(work: () => void): void {
  ending.push(work);
  begin();
}

/** Runs the continuations of promises resolved so far, before the caller resolves the next one. */
export const letGoOn = (): void => drainMicrotasks();

function begin(): void {
  if (begun) return;
  begun = true;
  setImmediate(turn);
}

function turn(): void {
  const together = waiting;
  waiting = [];
  for (const goOn of together) goOn();
  if (together.length > 0) letGoOn();
  const works = ending;
  ending = [];
  begun = false;
  for (const work of works)
    try {
      work();
    } catch (error) {
      queueMicrotask(() => {
        throw error; // reported as an uncaught exception
      });
    }
  if (waiting.length > 0) begin();
}
