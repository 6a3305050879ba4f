// Starts every process of a run; none outlives the harness, however the harness ends.
import { closeSync, openSync } from "node:fs";

const running = new Set<Bun.Subprocess>();
process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL"); // even if it is stopped
});

/** Runs `tollgate …`; stdout and stderr go to the log. */
export function tollgate(
  program: string,
  args: string[],
  options: { log: string; env?: Record<string, string> },
): Bun.Subprocess {
  const { DATABASE_URL: _database, TOLLGATE_CONFIG: _config, PORT: _port, ...inherited } = process.env;
  const log = openSync(options.log, "a");
  const child = Bun.spawn([program, ...args], {
    env: { ...inherited, ...options.env },
    stdin: "ignore",
    stdout: log,
    stderr: log,
  });
  closeSync(log);
  running.add(child);
  void child.exited.then(() => running.delete(child));
  return child;
}
