// A gateway for agents: one model for each upstream shape, and a record of everything they request.
import { expect } from "bun:test";
import { addFaces } from "../support/faces.ts";
import { type Customer, startGateway, type TestGateway } from "../support/gateway.ts";
import { PREVIEW_V1, type TestManifest } from "../support/models.ts";
import { type Ran, runToEnd, SOURCES } from "../support/program.ts";
import { type Asked, type Elsewhere, elsewhere, recordingIn, type Recorder } from "./recorder.ts";
import { Workplace } from "./workplace.ts";

/** By the shape of the upstream behind the gateway. */
export const SHAPES = ["openai", "anthropic", "google"] as const;
export type Shape = (typeof SHAPES)[number];

const UPSTREAMS = {
  openai: { provider: "simulator", upstream_model: "sim-base-1" },
  anthropic: { provider: "claude", upstream_model: "claude-opus-4-8" },
  google: { provider: "gemini", upstream_model: "gemini-3.8-flash" },
};

/** The gateway's name of the model of a shape. */
export const modelOn = (shape: Shape): string => `agent-${shape}`;

const onShape = (shape: Shape): TestManifest => ({
  ...PREVIEW_V1,
  ...UPSTREAMS[shape],
  model: modelOn(shape),
  requires_paid: false,
  max_output_tokens: 32_000,
  reasoning: { modes: ["none", "low", "medium", "high"], default: "medium" },
});
/** Names that agents know, and for which they send more than for others; by the shape of the upstream. */
export const KNOWN = {
  codex: [
    ["gpt-6.2-sol", "openai"],
    ["gpt-6.1-sol", "google"],
    ["gpt-5.5", "openai"],
    ["gpt-5.6-sol", "anthropic"],
  ],
  claude: [
    ["claude-opus-5-5", "anthropic"],
    ["claude-sonnet-5-5", "anthropic"],
    ["claude-haiku-5-5", "openai"],
  ],
} as const satisfies Record<string, [model: string, shape: Shape][]>;

const known = ([model, shape]: readonly [model: string, shape: Shape]): TestManifest => ({
  ...onShape(shape),
  model,
  ...(shape === "anthropic" && model.startsWith("claude") && { upstream_model: model }),
});

/** Its window is smaller than any agent's first request. */
export const SHORT_MODEL = "agent-short";
const SHORT_UPSTREAM = "sim-short-1";
const MODELS: TestManifest[] = [
  ...SHAPES.map(onShape),
  ...Object.values(KNOWN).flatMap((list) => list.map(known)),
  {
    ...onShape("openai"),
    model: SHORT_MODEL,
    upstream_model: SHORT_UPSTREAM,
    context_window: 3000,
    max_output_tokens: 1000,
    default_output_tokens: 500,
  },
];

/** A tool call that the upstream is to make. */
export interface Call {
  name: string;
  arguments: Record<string, unknown>;
}

export class House {
  private constructor(
    readonly gateway: TestGateway,
    readonly customer: Customer,
    private readonly recorder: Recorder,
    private readonly beyond: Elsewhere,
  ) {}

  static async open(): Promise<House> {
    const gateway = await startGateway({ models: MODELS, configure: addFaces });
    const customer = await gateway.customer({ usd: "1000" });
    return new House(
      gateway,
      customer,
      recordingIn(() => gateway.url),
      await elsewhere(),
    );
  }

  /** The base URL for clients; the API is under `/v1`. */
  get url(): string {
    return this.recorder.url;
  }

  /** The requests since this was last read. */
  take(): Asked[] {
    return this.recorder.asked.splice(0);
  }

  /** Makes a home and a project for one agent, runs `work` there, and removes them. */
  async at<T>(work: (workplace: Workplace) => Promise<T>): Promise<T> {
    const workplace = new Workplace(this.beyond.url);
    try {
      return await work(workplace);
    } finally {
      workplace.close();
    }
  }

  /** Runs `tollgate setup` for an agent of this workplace, as a person would. */
  async setUp(workplace: Workplace, agent: string, ...args: string[]): Promise<void> {
    const env = { ...workplace.environment(), TOLLGATE_KEY: this.customer.secret };
    const command = ["setup", agent, "--url", this.url, "--yes", ...args];
    const ran = await runToEnd(SOURCES, command, { env, cwd: workplace.home });
    if (ran.code !== 0) throw new Error(ran.err);
    this.take();
  }

  /** Sets what the upstream answers from now on: these calls, one round after the other, then text. */
  script(...rounds: Call[][]): void {
    this.gateway.simulator.behaveWell();
    this.gateway.simulator.behave({ behaviour: { tool_rounds: rounds } });
  }

  /**
   * Checks that the agent did its work, through this gateway alone and without refusals; returns its requests.
   * `tried`: other hosts that it contacts in vain; `refused`: statuses that it gets and ignores.
   */
  expectDone(
    workplace: Workplace,
    ran: Ran,
    { tried = [], refused: known = [] }: { tried?: readonly string[]; refused?: readonly number[] } = {},
  ): Asked[] {
    const asked = this.take();
    const refused = asked.map(({ status }) => status).filter((status) => status >= 400);
    const said = `${ran.out}\n${ran.err}`;
    const others = this.beyond.asked.splice(0).filter((host) => !tried.includes(host));
    expect({ refused, elsewhere: others, said }).toEqual({
      refused: [...known],
      elsewhere: [],
      said,
    });
    expect({ code: ran.code, notes: workplace.text, said }).toEqual({
      code: 0,
      notes: "colour = blue\n",
      said,
    });
    const { simulator } = this.gateway;
    expect(simulator.bill().filter(({ outcome }) => outcome !== "finished")).toEqual([]);
    return asked;
  }

  /** Checks that the agent ends without credits, after printing the gateway's message; returns how often it asked. */
  expectUnpaid(ran: Ran): number {
    const statuses = this.take().map(({ status }) => status);
    expect(ran.code).toBeGreaterThan(0);
    expect(`${ran.out}\n${ran.err}`).toContain("Add credits");
    expect(new Set(statuses)).toEqual(new Set([402]));
    return statuses.length;
  }

  /**
   * For a conversation that the model's window cannot hold: checks that the agent says so in its own `words`, and
   * that nothing was paid for.
   */
  expectFull(ran: Ran, words: string): Asked[] {
    const asked = this.take();
    expect(`${ran.out}\n${ran.err}`).toContain(words);
    expect(this.gateway.simulator.bill().filter(({ model }) => model === SHORT_UPSTREAM)).toEqual([]);
    return asked;
  }

  async close(): Promise<void> {
    await this.gateway.assertSound();
    await this.recorder.stop();
    await this.beyond.stop();
    await this.gateway.stop();
  }
}
