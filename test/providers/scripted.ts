// A gateway with a scripted provider of each shape, which answers byte for byte what a test says, and the building
// blocks of such scripts.
import type { Config } from "../../src/config/config.ts";
import { anthropic } from "../../src/providers/anthropic/kind.ts";
import { bedrock } from "../../src/providers/bedrock/kind.ts";
import { google } from "../../src/providers/google/kind.ts";
import type { ProviderKind } from "../../src/providers/kind.ts";
import { DIALECTS } from "../../src/providers/openai/dialects.ts";
import { eventFrame, exceptionFrame } from "../../src/providers/simulator/bedrock/frame.ts";
import type { RequestRecord } from "../../src/ledger/records.ts";
import { type Customer, startGateway, type TestGateway } from "../support/gateway.ts";
import { onProvider, PREVIEW_V1, type TestManifest, VECTORS } from "../support/models.ts";

/** The scripted shapes: each is a model, and a provider of that name. */
const SHAPES = ["openai", "responses", "claude", "gemini", "bedrock"] as const;
type Shape = (typeof SHAPES)[number];

/** What a provider sends: its events, or a whole body. */
export type Script = string | Buffer<ArrayBuffer> | ReadableStream<Uint8Array>;

export interface Scripted {
  gateway: TestGateway;
  one: Customer;
  other: Customer;
  /** Sets how the provider answers from now on. */
  says(script: Script, status?: number): void;
  /** The number of calls it received. */
  readonly calls: number;
  /** POSTs as one of the customers; returns the answer and the ledger's record. */
  post(path: string, body: object, who?: Customer): Promise<Told>;
  stop(): Promise<void>;
}

interface Told {
  status: number;
  text: string;
  record: RequestRecord;
}

const model = (name: string, provider: string, also: Partial<TestManifest> = {}): TestManifest =>
  onProvider({ ...PREVIEW_V1, model: name, requires_paid: false, reasoning: undefined }, provider, {
    ...also,
    ...(provider === "claude" || provider === "bedrock"
      ? { capabilities: { ...PREVIEW_V1.capabilities, logprobs: false, max_n: 1 } }
      : {}),
  });

const MODELS: TestManifest[] = [
  ...SHAPES.flatMap((shape) => [
    model(shape, shape),
    model(`${shape}-or-else`, shape, { priority: 0 }),
    model(`${shape}-or-else`, "simulator", { priority: 1 }),
  ]),
  { ...VECTORS, model: "vectors", provider: "openai" },
];

interface ScriptedOptions {
  /** The address of a server of the test's own, in place of the scripted one. */
  host?: string;
  /** How many consecutive failures close a route. */
  openAfter?: number;
  /** How long a provider may be silent. */
  silenceMs?: number;
  /** Terms of all text models. */
  also?: Partial<TestManifest>;
}

/** The gateway, and two customers of it. */
export async function startScripted(options: ScriptedOptions = {}): Promise<Scripted> {
  let calls = 0;
  let said: { script: Script; status: number } = { script: "", status: 200 };
  const upstream = Bun.serve({
    port: 0,
    async fetch(request) {
      await request.text();
      calls += 1;
      const { script, status } = said;
      return new Response(script, { status, headers: { "content-type": typeOf(script) } });
    },
  });
  const gateway = await startGateway({
    models: MODELS.map((one) => (one.model === "vectors" ? one : { ...one, ...options.also })),
    configure: (config) => configure(config, options.host ?? `http://127.0.0.1:${upstream.port}`, options),
  });
  const one = await gateway.customer({ usd: "100" });
  return {
    gateway,
    one,
    other: await gateway.customer({ usd: "100" }),
    says: (script, status = 200) => void (said = { script, status }),
    get calls() {
      return calls;
    },
    post: async (path, body, who = one) => {
      const reply = await fetch(`${gateway.url}${path}`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          authorization: `Bearer ${who.secret}`,
          "anthropic-version": "2023-06-01",
        },
        body: JSON.stringify(body),
      });
      const text = await reply.text();
      const id = reply.headers.get("x-request-id") ?? reply.headers.get("request-id") ?? "";
      return { status: reply.status, text, record: await gateway.request(id) };
    },
    stop: async () => {
      await gateway.assertSound();
      await gateway.stop();
      await upstream.stop(true);
    },
  };
}

function typeOf(script: Script): string {
  if (Buffer.isBuffer(script)) return "application/vnd.amazon.eventstream";
  return typeof script === "string" && script.startsWith("{") ? "application/json" : "text/event-stream";
}

function configure(config: Config, host: string, { openAfter, silenceMs }: ScriptedOptions): void {
  const [usual] = config.providers;
  if (usual === undefined) throw new Error("no simulator");
  const health = { ...usual.health, openAfterFailures: openAfter ?? 1000, halfOpenAfterMs: 60_000 };
  const timeouts =
    silenceMs === undefined
      ? usual.timeouts
      : { ...usual.timeouts, firstTokenMs: silenceMs, idleMs: silenceMs };
  const add = (name: Shape, kind: ProviderKind, path: string, own: object): void => {
    config.providers.push({
      ...usual,
      name,
      kind,
      baseUrl: host + path,
      own: own as never,
      health,
      timeouts,
    });
  };
  const spoken = { ...usual.own, api_key: "key" };
  add("openai", usual.kind, "/v1", { ...spoken, dialect: { ...DIALECTS.openai, responses: false } });
  add("responses", usual.kind, "/v1", { ...spoken, dialect: { ...DIALECTS.openai, responses: true } });
  add("claude", anthropic, "/v1", { envelope: "direct", api_key: "key", models: {} });
  add("gemini", google, "/v1beta", { envelope: "direct", api_key: "key" });
  add("bedrock", bedrock, "", { region: "us-east-1", api_key: "key" });
}

/** A question to a model, in the fields that chat completions and messages share. */
export const question = (name: string, also: object = {}): object => ({
  model: name,
  messages: [{ role: "user", content: "Say hello" }],
  max_tokens: 200,
  stream: true,
  ...also,
});

/** A stream of server-sent events. */
export const events = (...list: unknown[]): string =>
  list.map((one) => `data: ${typeof one === "string" ? one : JSON.stringify(one)}\n\n`).join("");
/** A chunk of chat completions. */
export const chunk = (delta: object, finish_reason: string | null = null, index = 0): object => ({
  choices: [{ index, delta, finish_reason }],
});

/** The beginning of a Claude message. */
export const started = (usage: object = { input_tokens: 20, output_tokens: 1 }): object => ({
  type: "message_start",
  message: { id: "msg_up", type: "message", role: "assistant", content: [], usage },
});
/** A Claude block with its deltas. */
export const block = (content_block: object, ...deltas: object[]): object[] => [
  { type: "content_block_start", index: 0, content_block },
  ...deltas.map((delta) => ({ type: "content_block_delta", index: 0, delta })),
  { type: "content_block_stop", index: 0 },
];
/** The end of a Claude message. */
export const ended = (stop_reason: string, output_tokens: number): object[] => [
  { type: "message_delta", delta: { stop_reason }, usage: { output_tokens } },
  { type: "message_stop" },
];

/** A Gemini candidate. */
export const candidate = (parts: object[], finishReason?: string, index = 0): object => ({
  candidates: [{ index, content: { role: "model", parts }, ...(finishReason && { finishReason }) }],
});

/** Events of Converse: a name and a payload each; an exception is recognized by the end of its name. */
export const frames = (...list: [string, object][]): Buffer<ArrayBuffer> =>
  Buffer.concat(
    list.map(([type, payload]) =>
      type.endsWith("Exception") ? exceptionFrame(type, payload) : eventFrame(type, payload),
    ),
  );
