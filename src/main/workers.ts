// `serve --workers N`: N gateways of one store on one port, each in its own process. The kernel spreads
// connections over them (SO_REUSEPORT). The first one starts alone, so that migrations, the demo and the
// operator's file are made once; a worker that ends by itself is replaced.
import type { Subprocess } from "bun";

/** The settings that a worker gets through its environment. */
const WORKER = "TOLLGATE_WORKER";
export type Worker = "first" | "other";

export const workerOf = (env: Record<string, string | undefined>): Worker | null => {
  const given = env[WORKER];
  return given === "first" || given === "other" ? given : null;
};

/** Tells the parent that a worker listens, and on which port. */
export const tellReady = (port: number): void => void process.send?.({ port });

const REPLACE_AFTER_MS = 1_000;

export interface WorkersPorts {
  count: number;
  /** The command of one worker that listens on this port; null means the configured one. */
  command(port: number | null): string[];
  say(line: string): void;
}

/** Runs the workers until SIGTERM or SIGINT; resolves with the exit code once all have ended. */
export async function runWorkers(ports: WorkersPorts): Promise<number> {
  const workers = new Workers(ports);
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => workers.stop(signal));
  return await workers.run();
}

class Workers {
  private readonly running = new Set<Subprocess>();
  private stopping = false;
  private exitCode = 0;

  constructor(private readonly ports: WorkersPorts) {}

  async run(): Promise<number> {
    const first = this.begin("first", null);
    const port = await first.listening;
    if (port === null) return await first.ended;
    const others = Array.from({ length: this.ports.count - 1 }, () => this.keep(port));
    await Promise.all([first.ended.then(() => this.keep(port, REPLACE_AFTER_MS)), ...others]);
    return this.exitCode;
  }

  stop(signal: "SIGTERM" | "SIGINT"): void {
    this.stopping = true;
    for (const worker of this.running) worker.kill(signal);
  }

  /** Runs one worker after another in the same place. */
  private async keep(port: number, afterMs = 0): Promise<void> {
    for (let waitMs = afterMs; !this.stopping; waitMs = REPLACE_AFTER_MS) {
      if (waitMs > 0) {
        this.ports.say("a worker ended unexpectedly; another one takes its place");
        await new Promise((resolve) => setTimeout(resolve, waitMs));
      }
      if (!this.stopping) await this.begin("other", port).ended;
    }
  }

  private begin(
    worker: Worker,
    port: number | null,
  ): { listening: Promise<number | null>; ended: Promise<number> } {
    const listening = Promise.withResolvers<number | null>();
    const child = Bun.spawn(this.ports.command(port), {
      stdio: ["ignore", "inherit", "inherit"],
      env: { ...process.env, [WORKER]: worker },
      ipc: (message: { port: number }) => listening.resolve(message.port),
    });
    this.running.add(child);
    const ended = child.exited.then((code) => {
      this.running.delete(child);
      listening.resolve(null);
      if (this.stopping && code !== 0) this.exitCode = 1;
      return code;
    });
    return { listening: listening.promise, ended };
  }
}
