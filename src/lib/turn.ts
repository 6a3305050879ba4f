// The turns of the event loop, as requests go through them: what arrived in one turn goes on together, stage after stage, and
// what it asks of the store is one commit at the end of that turn. Alone, each request would run through the code of the whole
// line before the next one does; together they run one stage's code many times, and the processor keeps it (performance.md §5).
import { drainMicrotasks } from "bun:jsc";

let waiting: (() => void)[] = [];
let ending: (() => void)[] = [];
let begun = false;

/** Resolves in the next turn, for all who wait for it at once. */
export const nextTurn = (): Promise<void> => new Promise(wait);

function wait(goOn: () => void): void {
  waiting.push(goOn);
  begin();
}

/** Runs `work` once the requests of the turn have gone as far as they get by themselves. What it throws stops nobody else's. */
export function atEndOfTurn(work: () => void): void {
  ending.push(work);
  begin();
}

/** Whoever has been told something goes on with it, as far as that gets by itself, before the next one is told. */
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
        throw error; // told as whatever nobody caught
      });
    }
  if (waiting.length > 0) begin();
}
