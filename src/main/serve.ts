// `serve` runs one gateway until SIGTERM or SIGINT, which it obeys at every stage. Before the port opens there are no
// obligations: it exits as after a crash, and the next start completes the work. Once the port is open it drains, and a
// second signal cuts off what still runs.
import type { Config } from "../config/config.ts";
import { commandOn } from "../config/data-dir.ts";
import { createLog } from "../lib/log.ts";
import { OWN_NAME } from "../domain/own-name.ts";
import { within } from "../lib/within.ts";
import { type Running, start } from "./gateway.ts";
import { banner } from "./banner.ts";
import { catchStrays, jobsOn } from "./jobs.ts";
import { tellReady, workerOf } from "./workers.ts";

/** How long a start that is told to stop may take to close what it has opened. */
const CLOSE_WITHIN_MS = 1_000;
/** One wish to end may arrive as several signals: from the terminal, from npm, from the parent of workers. */
const ONE_WISH_MS = 1_000;

/**
 * `start`, then the banner. If it cannot start, throws an error with a sentence for the operator. Exits with
 * 0 on a signal, with 1 if its store has another data key.
 */
export async function serve(config: Config): Promise<Running> {
  const worker = workerOf(process.env);
  const log = createLog(config.log.level);
  const jobs = jobsOn(log);
  catchStrays(jobs);
  const cancel = new AbortController();
  const hurry = new AbortController();
  let toldAtMs = 0;
  let listening = false;
  let exitCode = 0;
  const onListening = (): void => {
    listening = true;
  };
  const stop = async (): Promise<void> => {
    if (cancel.signal.aborted) {
      if (performance.now() - toldAtMs >= ONE_WISH_MS) hurry.abort();
      return;
    }
    toldAtMs = performance.now();
    cancel.abort(new Error("told to stop while starting"));
    const withinMs = listening ? config.limits.stopGraceMs : CLOSE_WITHIN_MS;
    const running = await within(
      starting.catch(() => null),
      withinMs,
    );
    await running?.stop();
    process.exit(exitCode);
  };
  /** Nobody awaits what a signal began: a stop that fails must end the process all the same. */
  const stopOrEnd = (): Promise<void> =>
    stop().catch((error: unknown) => {
      jobs.failed("stop", error);
      process.exit(1);
    });
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, jobs.guarded("stop", stopOrEnd));
  // The parent of the workers is gone: nobody would stop or replace them, and the next start would serve next
  // to them.
  if (worker !== null) process.on("disconnect", jobs.guarded("stop", stopOrEnd));
  const keyChanged = (error: Error): void => {
    jobs.failed("data_key", error);
    exitCode = 1;
    jobs.run("stop", stopOrEnd);
  };
  const starting = start(config, {
    worker,
    log,
    jobs,
    signal: cancel.signal,
    hurry: hurry.signal,
    keyChanged,
    onListening,
  });
  const running = await starting.catch((error: unknown) =>
    cancel.signal.aborted ? new Promise<never>(() => {}) : Promise.reject(error),
  );
  greet(config, running, worker);
  return running;
}

function greet(config: Config, running: Running, worker: ReturnType<typeof workerOf>): void {
  const { url, signInLink, demoKey, sellsNothing } = running;
  const publicUrl = config.publicUrl ?? url;
  if (worker !== "other")
    process.stdout.write(
      banner({
        baseUrl: `${publicUrl}/v1`,
        dashboard: { url: publicUrl, signInLink },
        sellsNothing,
        demo: demoKey === null ? null : { secret: demoKey, model: "base-preview-v1" },
        program: OWN_NAME,
        command: commandOn(config.dataDir),
      }),
    );
  tellReady(Number(new URL(url).port));
}
