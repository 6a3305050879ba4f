// `serve` runs one gateway until SIGTERM or SIGINT, which it obeys at every stage: what has not opened its port yet owes
// nobody anything, and is left as a crash would leave it, for the next start to complete; what has opened it drains, and what is
// told again cuts what still runs.
import type { Config } from "../config/config.ts";
import { commandOn } from "../config/data-dir.ts";
import { createLog } from "../lib/log.ts";
import { OWN_NAME } from "../domain/own-name.ts";
import { within } from "../lib/within.ts";
import { type Running, start } from "./gateway.ts";
import { banner } from "./banner.ts";
import { catchStrays, jobsOn } from "./jobs.ts";
import { tellReady, workerOf } from "./workers.ts";

/** So long a start that is told to end may take to close what it has opened. */
const CLOSE_WITHIN_MS = 1_000;
/** One wish to end may come as several signals: of the terminal, of npm, of the parent of workers. */
const ONE_WISH_MS = 1_000;

/**
 * `start`, then the banner. Throws with a sentence for the operator when it cannot; exits 0 on a signal, 1 where its store has
 * another data key by now.
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
  /** Nobody waits for what a signal began: a stop that fails must end the process all the same. */
  const stopOrEnd = (): Promise<void> =>
    stop().catch((error: unknown) => {
      jobs.failed("stop", error);
      process.exit(1);
    });
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, jobs.guarded("stop", stopOrEnd));
  // Whoever started the workers is gone: nobody would stop them, or replace one, and the next start would serve beside them.
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
