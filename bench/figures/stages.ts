// Shows why requests share turns: the CPU time, in µs, of a request that calls 300 functions of the usual size, alone
// or together with others, in one piece or in stages that all of them run together. Measured without peers.
import { join } from "node:path";
import { figure, type Figure } from "../figure.ts";
import { STAGES } from "../parts/stages.ts";
import type { Bench } from "./bench.ts";

const TOGETHER = [1, 10, 40] as const;
const PROGRAM = join(import.meta.dir, "../parts/stages.ts");

export async function stages({ plan }: Bench): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const together of TOGETHER) {
    const samples = await samplesOf(together, plan.rounds);
    for (const count of STAGES)
      figures.push(
        figure(
          {
            section: "300 functions, each called once by each request",
            name: `${together} at a time, ${count === 1 ? "in one piece" : `in ${count} stages`}`,
            peer: "none",
            unit: "µs",
          },
          samples.filter(({ stages: its }) => its === count).map(({ micros }) => micros),
        ),
      );
  }
  return figures;
}

async function samplesOf(together: number, rounds: number): Promise<{ stages: number; micros: number }[]> {
  const child = Bun.spawn([process.execPath, PROGRAM, String(together), String(rounds)], {
    stderr: "inherit",
  });
  const text = await child.stdout.text();
  if ((await child.exited) !== 0) throw new Error("the stages did not run");
  return text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { stages: number; micros: number });
}
