// One gateway of the run as a process of its own, started the way an operator starts it. It can be killed, paused,
// stopped and armed with a crash point; whoever ends it, it is started again, and every end is written down.
import { statSync } from "node:fs";
import { tollgate } from "./children.ts";
import type { Absence, History } from "./history.ts";
import type { StartGate } from "./start-gate.ts";

export interface GatewayFiles {
  /** Among the gateways of the run. */
  number: number;
  /** The source tree that is started: the checkout, or a mutant's copy of it. */
  root: string;
  settings: string;
  dataDir: string;
  log: string;
  port: number;
}

const READY_WITHIN_MS = 20_000;
const STOPPED_WITHIN_MS = 40_000;
const NOTICED_WITHIN_MS = 100;
/** What slept finds its connections gone and its lease run out, one after the other. */
const AWAKE_WITHIN_MS = 500;
const BANNER = "Tollgate is ready.";

export class GatewayProcess {
  readonly url: string;
  private child: Bun.Subprocess | null = null;
  /** Whether the running child has a crash point. */
  private armed = false;
  /** What we end the running child with; null = nothing: without a crash point, its end is an accident. */
  private endedBy: "killed" | "stopped" | null = null;
  /** Where the output of the running child begins in the log. */
  private logFrom = 0;
  private down: Absence | null = null;
  private paused: Absence | null = null;
  private working: Promise<void> = Promise.resolve();
  private waiting = 0;
  private closing = false;

  constructor(
    readonly files: GatewayFiles,
    private readonly history: History,
    private readonly gate: StartGate,
  ) {
    this.url = `http://127.0.0.1:${files.port}`;
  }

  get number(): number {
    return this.files.number;
  }

  /** For how long it has been down; 0 when it is not. */
  get downForMs(): number {
    return this.down === null ? 0 : Date.now() - this.down.startMs;
  }

  /** For how long it has been down or stood still. */
  get awayForMs(): number {
    return Math.max(this.downForMs, this.paused === null ? 0 : Date.now() - this.paused.startMs);
  }

  /** Starts it and waits until it is ready. */
  start(crashAt: string | null = null): Promise<void> {
    return this.gate.start(() => this.run(crashAt));
  }

  private async run(crashAt: string | null): Promise<void> {
    const { root, settings, log } = this.files;
    const env: Record<string, string> = crashAt === null ? {} : { TOLLGATE_CRASH_AT: crashAt };
    const logFrom = statSync(log, { throwIfNoEntry: false })?.size ?? 0;
    const child = tollgate(root, ["serve", "--config", settings], { log, env });
    this.child = child;
    this.logFrom = logFrom;
    this.armed = crashAt !== null;
    this.endedBy = null;
    void child.exited.then(() => this.ended(child));
    if (!(await this.ready(child))) return; // it stays down; `ended` starts it again
    if (this.down !== null) this.down.endMs = Date.now();
    this.down = null;
  }

  /** One stroke after another: a second one waits until the first has been taken and the gateway is up again. */
  kill(downMs: number, crashAt: string | null = null): Promise<void> {
    return this.turn(async () => {
      await this.end("killed", "SIGKILL");
      await Bun.sleep(downMs);
      await this.start(crashAt);
    });
  }

  /** SIGTERM: it drains, exits with 0, and is started again. */
  restart(): Promise<void> {
    return this.turn(async () => {
      await this.end("stopped", "SIGTERM");
      await this.start();
    });
  }

  pause(ms: number): Promise<void> {
    return this.turn(async () => {
      const span = this.absence("pause");
      this.history.pauses.push(span);
      this.paused = span;
      const { child } = this;
      child?.kill("SIGSTOP");
      await Bun.sleep(ms);
      child?.kill("SIGCONT");
      this.paused = null;
      await Bun.sleep(AWAKE_WITHIN_MS);
      // It may find its store's connections gone, and says so until it has others.
      await this.recovered();
      span.endMs = Date.now();
    });
  }

  /** Something that must not meet a start; the gateway may stand still meanwhile. */
  whileUp(act: () => Promise<void>): Promise<void> {
    return this.turn(async () => {
      const span = this.absence("store locked");
      this.history.pauses.push(span);
      await act();
      if (this.child !== null) await this.ready(this.child);
      span.endMs = Date.now();
    });
  }

  /** Resolves when it serves again; at once while it is away by a stroke of its own. */
  async recovered(): Promise<void> {
    if (this.child !== null && this.awayForMs === 0) await this.ready(this.child);
  }

  /** Whatever is going on ends; the process runs afterwards, without a crash point. */
  async heal(): Promise<void> {
    await this.turn(async () => {
      if (!this.armed) return;
      await this.end("killed", "SIGKILL");
      await this.start();
    });
  }

  async stop(): Promise<void> {
    this.closing = true;
    await this.working.catch(() => undefined);
    const { child } = this;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await child.exited;
  }

  /** True when a stroke would have to wait behind another one that waits already. */
  get busy(): boolean {
    return this.waiting >= 2;
  }

  private turn(act: () => Promise<void>): Promise<void> {
    this.waiting += 1;
    const mine = this.working.then(act).finally(() => {
      this.waiting -= 1;
    });
    this.working = mine.catch(() => undefined);
    return mine;
  }

  private async end(how: "killed" | "stopped", signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    const { child } = this;
    if (child === null) return;
    this.goesDown(how);
    this.endedBy = how;
    child.kill(signal);
    const hard = setTimeout(() => {
      this.accident(`SIGTERM did not end the gateway within ${STOPPED_WITHIN_MS} ms`);
      child.kill("SIGKILL");
    }, STOPPED_WITHIN_MS);
    await child.exited;
    clearTimeout(hard);
    if (how === "killed" || child.exitCode === 0) return;
    if (this.crashed(child)) this.history.stroke("crash point hit");
    else this.accident(`the gateway left SIGTERM with exit code ${child.exitCode} (${child.signalCode})`);
  }

  /** One that kills itself is noticed a little later than by its clients. */
  private goesDown(what: string): void {
    const sinceMs = this.armed ? NOTICED_WITHIN_MS : 0;
    this.down ??= this.absence(what, Date.now() - sinceMs);
    if (!this.history.downs.includes(this.down)) this.history.downs.push(this.down);
  }

  /** A crash point has fired, or nobody knows why it ended: either way it is started again. */
  private ended(child: Bun.Subprocess): void {
    if (child !== this.child || this.closing || this.endedBy !== null) return;
    this.goesDown("crash point");
    if (this.crashed(child)) this.history.stroke("crash point hit");
    else this.accident(`the gateway ended by itself: exit code ${child.exitCode} (${child.signalCode})`);
    void this.turn(async () => {
      if (this.child === child) await this.start();
    });
  }

  private absence(what: string, startMs = Date.now()): Absence {
    return { what, gateway: this.number, startMs, endMs: null };
  }

  private crashed(child: Bun.Subprocess): boolean {
    return this.armed && child.signalCode === "SIGKILL";
  }

  private accident(what: string): void {
    this.history.accidents.push({ what, atMs: Date.now() });
  }

  /** The last thing that a start does is to print its banner; its port is open before. */
  private async hasStarted(): Promise<boolean> {
    const output = await Bun.file(this.files.log).slice(this.logFrom).text();
    return output.includes(BANNER);
  }

  private async ready(child: Bun.Subprocess): Promise<boolean> {
    const untilMs = performance.now() + READY_WITHIN_MS;
    while (performance.now() < untilMs) {
      if (child.exitCode !== null || child.signalCode !== null) return false;
      if (this.paused !== null) return true;
      const ok = await fetch(`${this.url}/readyz`, { signal: AbortSignal.timeout(1_000) }).then(
        (answer) => answer.ok,
        () => false,
      );
      if (ok && (await this.hasStarted())) return true;
      await Bun.sleep(5);
    }
    this.accident(`the gateway was not ready within ${READY_WITHIN_MS} ms`);
    return true;
  }
}

/** A port that was free a moment ago. */
export function freePort(): number {
  const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => undefined } });
  const { port } = listener;
  listener.stop(true);
  return port;
}
