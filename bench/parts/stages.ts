// The control for turns that requests share (src/lib/turn.ts): requests that each call the same 300 functions, one
// request after the other or together in stages. Run by `figures/stages.ts` in a process of its own; prints the
// CPU of one request in µs, one line for each number of stages.
import { steps, type Sum } from "./many-functions.ts";

export const STAGES = [1, 3, 10, 30, 100] as const;

const FUNCTIONS = 300;
const REQUESTS = 4_000;

/** Warm-up runs, until the JIT's last tier has compiled the functions. */
const WARM_UP_ROUNDS = 4;

type Functions = readonly ((of: Sum) => void)[];

async function request(functions: Functions, stages: number): Promise<void> {
  const of: Sum = { sum: 1 };
  const size = FUNCTIONS / stages;
  for (let begun = 0; begun < FUNCTIONS; begun += size) {
    for (let n = begun; n < begun + size; n += 1) functions[n]?.(of);
    if (stages > 1) await Promise.resolve(); // the others of the turn run the same stage
  }
}

/** CPU time of one request in µs, when this many run together. */
async function microsOf(functions: Functions, together: number, stages: number): Promise<number> {
  const before = process.cpuUsage();
  for (let n = 0; n < REQUESTS; n += together)
    await Promise.all(Array.from({ length: together }, () => request(functions, stages)));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / REQUESTS;
}

if (import.meta.main) {
  const functions = await steps(FUNCTIONS);
  const [together = 1, rounds = 5] = process.argv.slice(2).map(Number);
  for (let round = -WARM_UP_ROUNDS; round < rounds; round += 1)
    for (const stages of STAGES) {
      const micros = await microsOf(functions, together, stages);
      if (round >= 0) console.log(JSON.stringify({ stages, micros }));
    }
}
