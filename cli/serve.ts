// `serve` runs the gateway in this process until SIGTERM; `dev` runs `serve` again whenever a source file changes.
import type { Command } from "commander";
import { ownCommand } from "../src/lib/program.ts";
import { asProblem, Problem, WrongUsage } from "./problem.ts";

interface ServeOptions {
  config?: string;
  port?: string;
  host?: string;
  dataDir?: string;
  workers?: string;
}

export function addServe(program: Command): void {
  withOptions(program.command("serve"))
    .description("start the gateway; SIGTERM drains it")
    .option("--workers <n>", "how many gateways share the port, each in its own process; needs PostgreSQL")
    .action(async (_: object, command: Command) => {
      const loaded = endOnSignals();
      const { workers, ...flags } = command.optsWithGlobals<ServeOptions>();
      const [{ loadConfig }, { serve }] = await Promise.all([
        import("../src/config/config.ts"),
        import("../src/main/serve.ts"),
      ]);
      const config = configured(() => loadConfig({ env: process.env, cwd: process.cwd(), flags }));
      const count = workersOf(workers, config.databaseUrl);
      loaded();
      if (count === 1) await started(() => serve(config));
      else process.exitCode = await runAll(count, flags);
    });
  withOptions(program.command("dev"))
    .description("start the gateway and restart it when its source changes")
    .action(async (_: object, command: Command) => {
      process.exitCode = await watch(printFlags(command.optsWithGlobals<ServeOptions>()));
    });
}

function workersOf(given: string | undefined, databaseUrl: string | null): number {
  const count = Number(given ?? "1");
  if (!Number.isSafeInteger(count) || count < 1 || count > 256)
    throw new WrongUsage(`--workers ${given} is not a number of processes.`, "Give one from 1 to 256.");
  if (count > 1 && databaseUrl === null)
    throw new Problem(
      "The embedded SQLite store belongs to one process.",
      "Set DATABASE_URL to a PostgreSQL database, or leave out --workers.",
    );
  return count;
}

async function runAll(count: number, flags: ServeOptions): Promise<number> {
  const { runWorkers } = await import("../src/main/workers.ts");
  const { say } = await import("./report.ts");
  const command = (port: number | null): string[] => {
    const ours = port === null ? flags : { ...flags, port: String(port) };
    return [...ownCommand(), "serve", ...printFlags(ours)];
  };
  return await runWorkers({ count, command, say });
}

const withOptions = (command: Command): Command =>
  command
    .option("--config <file>", "configuration (TOLLGATE_CONFIG; else ./tollgate.yaml if present)")
    .option("--port <n>", "port to listen on (PORT; else 8080)")
    .option("--host <host>", "address to listen on (HOST; else 127.0.0.1)");

function configured<Config>(load: () => Config): Config {
  try {
    return load();
  } catch (error) {
    if (!(error instanceof Error) || error.name !== "ConfigError") throw error;
    throw new Problem(error.message, "Correct these settings; tollgate.example.yaml shows them all.");
  }
}

/**
 * Lets signals end the process while the program is loading; returns a function that hands the signals over to what
 * was loaded.
 */
function endOnSignals(): () => void {
  const end = (): never => process.exit(0);
  for (const signal of SIGNALS) process.on(signal, end);
  return () => SIGNALS.forEach((signal) => process.off(signal, end));
}

const SIGNALS = ["SIGTERM", "SIGINT"] as const;

/** A failed start ends the process, even if something is still running. */
const END_WITHIN_MS = 3_000;

async function started<Running>(start: () => Promise<Running>): Promise<Running> {
  try {
    return await start();
  } catch (error) {
    setTimeout(() => process.exit(1), END_WITHIN_MS).unref();
    throw asProblem(error);
  }
}

function printFlags({ config, port, host, dataDir }: ServeOptions): string[] {
  const flags = { "--config": config, "--port": port, "--host": host, "--data-dir": dataDir };
  return Object.entries(flags).flatMap(([name, value]) => (value === undefined ? [] : [name, value]));
}

async function watch(flags: string[]): Promise<number> {
  const [bun = "", program] = ownCommand();
  if (program === undefined)
    throw new Problem(
      "The single executable has no source to watch.",
      "Run serve, or npm run dev in the project.",
    );
  const child = Bun.spawn([bun, "--watch", program, "serve", ...flags], {
    stdio: ["inherit", "inherit", "inherit"],
  });
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => child.kill(signal));
  return await child.exited;
}
