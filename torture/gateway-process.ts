// One gateway of the run, in a separate process, started the way an operator starts it. It can be killed, paused,
// stopped and armed with a crash point. However it ends, it is started again, and every end is recorded.
import { readFileSync, statSync } from "node:fs";
import { tollgate } from "./children.ts";
import type { Absence, History } from "./history.ts";
import type { StartGate } from "./start-gate.ts";

export interface GatewayFiles {
  /** Its number among the gateways of the run. */
  number: number;
  /** What is started: `tollgate` of the checkout or of a mutant's copy of it, or the executable. */
  program: string;
  settings: string;
  dataDir: string;
  log: string;
  port: number;
}

const READY_WITHIN_MS = 20_000;
const STOPPED_WITHIN_MS = 40_000;
const NOTICED_WITHIN_MS = 100;
/** A gateway that was paused finds first its connections gone, then its lease expired. */
const AWAKE_WITHIN_MS = 500;
/** Characters of its log that tell why a gateway ended. */
const LAST_WORDS = 600;
const BANNER = "Tollgate is ready.";

export class GatewayProcess {
  readonly url: string;
  private child: Bun.Subprocess | null = null;
  /** True if the running child has a crash point. */
  private armed = false;
  /** How we are ending the running child; null if we are not: without a crash point, its end is an accident. */
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

  /** How long it has been down; 0 if it is up. */
  get downForMs(): number {
    return this.down === null ? 0 : Date.now() - this.down.startMs;
  }

  /** How long it has been down or paused. */
  get awayForMs(): number {
    return Math.max(this.downForMs, this.paused === null ? 0 : Date.now() - this.paused.startMs);
  }

  /** Starts it and waits until it is ready. */
  start(crashAt: string | null = null): Promise<void> {
    return this.gate.start(() => this.run(crashAt));
  }

  private async run(crashAt: string | null): Promise<void> {
    const { program, settings, log } = this.files;
    const env: Record<string, string> = crashAt === null ? {} : { TOLLGATE_CRASH_AT: crashAt };
    const logFrom = statSync(log, { throwIfNoEntry: false })?.size ?? 0;
    const child = tollgate(program, ["serve", "--config", settings], { log, env });
    this.child = child;
    this.logFrom = logFrom;
    this.armed = crashAt !== null;
    this.endedBy = null;
    void child.exited.then(() => this.ended(child));
    if (!(await this.ready(child))) return; // it stays down; `ended` starts it again
    if (this.down !== null) this.down.endMs = Date.now();
    this.down = null;
  }

  /** Strokes run one at a time: a second one waits until the first is over and the gateway is up again. */
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
      // It may find its store's connections gone, and is not ready until it has new ones.
      await this.recovered();
      span.endMs = Date.now();
    });
  }

  /** Runs something that must not happen during a start; the gateway may be paused meanwhile. */
  whileUp(act: () => Promise<void>): Promise<void> {
    return this.turn(async () => {
      const span = this.absence("store locked");
      this.history.pauses.push(span);
      await act();
      if (this.child !== null) await this.ready(this.child);
      span.endMs = Date.now();
    });
  }

  /** Resolves when it serves again; at once if it is away because of a stroke on itself. */
  async recovered(): Promise<void> {
    if (this.child !== null && this.awayForMs === 0) await this.ready(this.child);
  }

  /** Ends every stroke; afterwards the process runs without a crash point. */
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

  /** True if a stroke would have to wait behind another that is already waiting. */
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

  /** A process that kills itself is noticed a little later here than by its clients. */
  private goesDown(what: string): void {
    const sinceMs = this.armed ? NOTICED_WITHIN_MS : 0;
    this.down ??= this.absence(what, Date.now() - sinceMs);
    if (!this.history.downs.includes(this.down)) this.history.downs.push(this.down);
  }

  /** A crash point has fired, or the end is unexplained: either way it is started again. */
  private ended(child: Bun.Subprocess): void {
    if (child !== this.child || this.closing || this.endedBy !== null) return;
    this.goesDown("crash point");
    if (this.crashed(child)) this.history.stroke("crash point hit");
    else {
      const end = `exit code ${child.exitCode} (${child.signalCode})`;
      this.accident(`the gateway ended by itself: ${end}: ${this.lastWords()}`);
    }
    void this.turn(async () => {
      if (this.child === child) await this.start();
    });
  }

  /** The end of what the running child has printed, in one line. */
  private lastWords(): string {
    return readFileSync(this.files.log)
      .subarray(this.logFrom)
      .toString()
      .slice(-LAST_WORDS)
      .replace(/\s+/g, " ")
      .trim();
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

  /** Printing the banner is the last step of a start; the port is open before. */
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
