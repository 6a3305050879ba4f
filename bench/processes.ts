// Starts, pins and measures the processes of a benchmark, and ends each of them by its own id when the bench ends.
// The gateway under test gets core 0, everything else core 1, if there are two cores and `taskset` (performance.md
// §4.1).
import { cpus } from "node:os";
import { readFileSync } from "node:fs";

type Core = "gateway" | "others";

export interface Process {
  readonly pid: number;
  /** User and system time of all threads since the start, seconds, in steps of 10 ms. */
  cpuSeconds(): number;
  rssMb(): number;
  /** SIGTERM, then SIGKILL after ten seconds; resolves with the milliseconds it took. */
  stop(): Promise<number>;
  /** SIGKILL. */
  kill(): Promise<void>;
}

const tasksetPath = Bun.which("taskset");
export const pinned = tasksetPath !== null && cpus().length >= 2;
const CORE_OF: Record<Core, string> = { gateway: "0", others: "1" };
const CLOCK_TICKS_PER_SECOND = 100;

const pinPrefix = (core: Core): string[] =>
  pinned && tasksetPath !== null ? [tasksetPath, "-c", CORE_OF[core]] : [];

/** Moves this process, the generator, to the core of the others. */
export function pinGenerator(): void {
  if (!pinned || tasksetPath === null) return;
  Bun.spawnSync([tasksetPath, "-a", "-p", "-c", CORE_OF.others, String(process.pid)], { stdout: "ignore" });
}

/** The environment of every process. By default Bun's fetch opens 256 upstream connections and queues the rest. */
export const benchEnvironment = (extra: Record<string, string> = {}): Record<string, string> => {
  const { DATABASE_URL: _database, TOLLGATE_CONFIG: _config, PORT: _port, ...inherited } = process.env;
  return { ...(inherited as Record<string, string>), BUN_CONFIG_MAX_HTTP_REQUESTS: "65336", ...extra };
};

const running = new Set<Bun.Subprocess>();

/** `log` is a file for stdout and stderr; without it stdout is piped to the caller. */
export interface Launch {
  command: string[];
  core: Core;
  environment?: Record<string, string>;
  log?: string;
}

export function launch(options: Launch): { process: Process; stdout: ReadableStream<Uint8Array> | null } {
  const log = options.log === undefined ? null : Bun.file(options.log);
  const child = Bun.spawn([...pinPrefix(options.core), ...options.command], {
    env: benchEnvironment(options.environment),
    stdin: "ignore",
    stdout: log ?? "pipe",
    stderr: log ?? "inherit",
  });
  running.add(child);
  void child.exited.then(() => running.delete(child));
  const process: Process = {
    pid: child.pid,
    cpuSeconds: () => cpuSeconds(child.pid),
    rssMb: () => rssMb(child.pid),
    stop: () => stop(child),
    kill: async () => {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
  return { process, stdout: child.stdout instanceof ReadableStream ? child.stdout : null };
}

async function stop(child: Bun.Subprocess): Promise<number> {
  const startedMs = performance.now();
  child.kill("SIGTERM");
  const hard = setTimeout(() => child.kill("SIGKILL"), 10_000);
  await child.exited;
  clearTimeout(hard);
  return performance.now() - startedMs;
}

/** Ends what is still running, at the end of the bench or after a failure. */
export async function stopAll(): Promise<void> {
  await Promise.all([...running].map(stop));
}

/** Waits for the line `ready PORT` of one of the bench's own servers. */
export async function readyPort(stdout: ReadableStream<Uint8Array> | null): Promise<number> {
  let text = "";
  if (stdout === null) throw new Error("no output to read the port from");
  const reader = stdout.getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    text += new TextDecoder().decode(part.value);
    const match = /ready (\d+)\n/.exec(text);
    if (match !== null) {
      reader.releaseLock();
      return Number(match[1]);
    }
  }
  throw new Error(`a server of the bench ended before it was ready: ${text}`);
}

/** Polls `url` until it answers 200; returns the milliseconds since `sinceMs` (of `performance.now()`). */
export async function readyMs(url: string, sinceMs: number, limitMs = 15_000): Promise<number> {
  while (performance.now() - sinceMs < limitMs) {
    const ok = await fetch(url).then(
      (answer) => answer.ok,
      () => false,
    );
    if (ok) return performance.now() - sinceMs;
    await Bun.sleep(2);
  }
  throw new Error(`${url} was not ready within ${limitMs} ms`);
}

function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS_PER_SECOND;
}

function rssMb(pid: number): number {
  const match = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "latin1"));
  return Number(match?.[1] ?? 0) / 1024;
}

/** A port that was free a moment ago. */
export function freePort(): number {
  const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => undefined } });
  const { port } = listener;
  listener.stop(true);
  return port;
}
