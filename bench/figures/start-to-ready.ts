// The time from the start of the program to its first ready answer, on the store that the whole bench has filled: for
// the single executable, which is what is deployed, and for `./tollgate serve` from its sources. Runs last.
import { join } from "node:path";
import { GOALS, figure } from "../figure.ts";
import type { Figure } from "../figure.ts";
import { root } from "../peers.ts";
import type { Bench } from "./bench.ts";

export async function startToReady(bench: Bench): Promise<Figure[]> {
  const { plan, tollgate } = bench;
  if (tollgate === null) return [];
  const waits = async (program?: string): Promise<number[]> => {
    const each: number[] = [];
    for (let start = 0; start < plan.starts; start += 1) {
      await tollgate.restart(program);
      each.push(tollgate.startedMs);
    }
    return each;
  };
  const place = { section: "Start", peer: tollgate.name, unit: "ms" };
  const sources = await waits();
  const executable = await waits(await built(tollgate.scratchDir));
  return [
    figure({ ...place, name: "start to ready, existing store" }, executable, GOALS.readyMs),
    figure({ ...place, name: "the same from the sources" }, sources),
  ];
}

async function built(folder: string): Promise<string> {
  const program = join(folder, "single", "tollgate");
  const build = Bun.spawn([join(root, "tollgate-bun"), join(root, "scripts/build.ts"), program], {
    stdout: "ignore",
    stderr: "pipe",
  });
  const [said, code] = await Promise.all([build.stderr.text(), build.exited]);
  if (code !== 0) throw new Error(`the executable was not built: ${said}`);
  return program;
}
