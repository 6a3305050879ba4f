// A program in a process group of its own: whatever it leaves behind is found, named and ended. A process that outlives a
// run would hold its output open, so that the run never ends.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";

/** Processes that a program has told to end are given this long. */
const GRACE_MS = 10_000;
const LOOK_EVERY_MS = 100;

export interface Ended {
  code: number;
  /** The command lines of the processes that it left behind; they have been killed. */
  left: string[];
}

interface GroupOptions {
  env: NodeJS.ProcessEnv;
  /** Called with its output, piece by piece. */
  heard: (bytes: Buffer) => void;
  graceMs?: number;
}

/** Runs it to its end, and ends what it has left behind. */
export async function runInGroup(
  [program = "", ...words]: readonly string[],
  { env, heard, graceMs = GRACE_MS }: GroupOptions,
): Promise<Ended> {
  const child = spawn(program, words, { stdio: ["ignore", "pipe", "pipe"], env, detached: true });
  for (const stream of [child.stdout, child.stderr]) stream.on("data", heard);
  running.add(child);
  if (running.size === 1) for (const signal of SIGNALS) process.on(signal, passOn);
  const closed = new Promise((resolve) => child.once("close", resolve));
  const code = await new Promise<number>((resolve) => child.once("exit", (status) => resolve(status ?? 1)));
  let left = membersOf(child);
  for (let ms = 0; left.length > 0 && ms < graceMs; ms += LOOK_EVERY_MS) {
    await Bun.sleep(LOOK_EVERY_MS);
    left = membersOf(child);
  }
  signalGroup(child, "SIGKILL");
  await closed;
  running.delete(child);
  if (running.size === 0) for (const signal of SIGNALS) process.off(signal, passOn);
  return { code, left };
}

const SIGNALS = ["SIGINT", "SIGTERM"] as const;
const running = new Set<ChildProcess>();

/** A terminal does not reach the groups. */
function passOn(signal: NodeJS.Signals): void {
  for (const child of running) signalGroup(child, signal);
  process.exit(1);
}

/** False if nobody is left in its group. */
function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals | 0): boolean {
  try {
    return pid !== undefined && process.kill(-pid, signal);
  } catch {
    return false;
  }
}

/** The command lines of those in its group that still run; where the system lists no processes, only that there are some. */
function membersOf(child: ChildProcess): string[] {
  const { pid } = child;
  if (!existsSync("/proc/self/stat")) return signalGroup(child, 0) ? [`process group ${pid}`] : [];
  return readdirSync("/proc").flatMap((name) => {
    const [, group] = /^\d+ \(.*\) \S \d+ (\d+)/s.exec(read(`/proc/${name}/stat`)) ?? [];
    if (Number(group) !== pid) return [];
    return read(`/proc/${name}/cmdline`).replaceAll("\0", " ").trim().slice(0, 300) || []; // none: it has ended
  });
}

/** Empty if there is no such process, or no longer. */
function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
