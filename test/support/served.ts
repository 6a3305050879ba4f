// `./tollgate serve` as a process whose end a test waits for: its output, and how it ended.
import { PROGRAM } from "./program.ts";

/** Much longer than any shutdown takes: a process that is still there has not obeyed. */
const TOO_LONG_MS = 60_000;

export interface Served {
  child: Bun.Subprocess<"ignore", "pipe", "pipe">;
  /** Resolves when it ends; a process that does not end is killed, and its `code` is null. */
  ended: Promise<{
    code: number | null;
    signal: Bun.Subprocess["signalCode"];
    stdout: string;
    stderr: string;
  }>;
}

export interface ServeOptions {
  folder: string;
  args?: string[];
  env?: Record<string, string>;
  /** The command that runs it, for example as another user. */
  through?: string[];
}

export function serveProcess({ folder, args = [], env = {}, through = [] }: ServeOptions): Served {
  const child = Bun.spawn([...through, PROGRAM, "serve", ...args], {
    cwd: folder,
    env: { ...process.env, TOLLGATE_LOG_LEVEL: "silent", ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const tooLong = setTimeout(() => child.kill("SIGKILL"), TOO_LONG_MS);
  const ended = (async () => {
    const [stdout, stderr] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    await child.exited;
    clearTimeout(tooLong);
    return { code: child.exitCode, signal: child.signalCode, stdout, stderr };
  })();
  return { child, ended };
}
