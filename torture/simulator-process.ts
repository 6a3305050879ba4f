// The provider of the run: `./tollgate simulator` in a separate process, whose bill is the oracle. It is paused now
// and then and never killed: a provider's bill does not forget.
import { tollgate } from "./children.ts";
import type { Absence, History } from "./history.ts";
import { MODELS, upstreamModel } from "./models.ts";

/** A line of the bill, as `GET /_sim/ledger` prints it. */
export interface BilledCall {
  request_id: string | null;
  attempt: number | null;
  model: string;
  stream: boolean;
  prompt_tokens: number;
  completion_tokens: number;
  outcome: "running" | "finished" | "cut" | "refused";
  billed: boolean;
  arrived_at_ms: number;
  seconds: number;
}

export class SimulatorProcess {
  private constructor(
    readonly url: string,
    private readonly child: Bun.Subprocess,
    private readonly history: History,
  ) {}

  static async start(
    files: { program: string; port: number; log: string },
    history: History,
  ): Promise<SimulatorProcess> {
    const { program, port, log } = files;
    const child = tollgate(program, ["simulator", "--port", String(port)], { log });
    const simulator = new SimulatorProcess(`http://127.0.0.1:${port}`, child, history);
    await simulator.listens();
    for (const model of MODELS)
      for (const [route, behaviour] of model.routes.entries())
        await simulator.order(upstreamModel(model.name, route), behaviour);
    return simulator;
  }

  async bill(): Promise<BilledCall[]> {
    const answer = await fetch(`${this.url}/_sim/ledger`);
    return ((await answer.json()) as { calls: BilledCall[] }).calls;
  }

  async pause(ms: number): Promise<void> {
    const span: Absence = { what: "provider pause", gateway: null, startMs: Date.now(), endMs: null };
    this.history.pauses.push(span);
    this.child.kill("SIGSTOP");
    await Bun.sleep(ms);
    this.child.kill("SIGCONT");
    span.endMs = Date.now();
  }

  async stop(): Promise<void> {
    this.child.kill("SIGKILL");
    await this.child.exited;
  }

  private async order(model: string, behaviour: Record<string, unknown>): Promise<void> {
    const answer = await fetch(`${this.url}/_sim`, {
      method: "POST",
      body: JSON.stringify({ model, behaviour }),
    });
    if (!answer.ok) throw new Error(`the simulator refused ${model}: ${await answer.text()}`);
  }

  private async listens(): Promise<void> {
    for (const untilMs = performance.now() + 10_000; performance.now() < untilMs; await Bun.sleep(5)) {
      const ok = await fetch(`${this.url}/v1/models`).then(
        (answer) => answer.ok,
        () => false,
      );
      if (ok) return;
    }
    throw new Error("the simulator did not start");
  }
}
