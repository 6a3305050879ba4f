// The cost of each surface compared with chat completions on the same route: CPU per whole answer at 64 in flight,
// and per event of 32 streams, in one process, round by round. The route has the surface's own shape, so that
// requests reach the upstream as they were written.
import { costOf, microsPerEvent, per1000Requests } from "../cost.ts";
import { GOALS, figure } from "../figure.ts";
import { TOLLGATE } from "../peer.ts";
import { chatBody } from "../request.ts";
import { interleave, ratios, valuesOf } from "../rounds.ts";
import { EMBEDDINGS, MESSAGES, RESPONSES } from "../surface-bodies.ts";
import { manifestOf, vectorsManifestOf } from "../tollgate-files.ts";
import { type Beside, startTollgate, type TollgatePeer } from "../tollgate-peer.ts";
import type { Cost, CostPlan } from "../cost.ts";
import type { Figure } from "../figure.ts";
import type { RunningPeer } from "../peer.ts";
import type { ScriptName } from "../scripts.ts";
import type { Bench } from "./bench.ts";

const JSON_MODEL: ScriptName = "bench-json-1k";
const STREAM_MODEL: ScriptName = "bench-sse-50x5";
const CLAUDE = "bench-claude";
const VECTORS = "bench-vectors";
const RESPONSES_MODELS = { json: "bench-responses-json", stream: "bench-responses-sse" };

const BESIDE: Beside = {
  providers: (port) => `
  - name: responses
    kind: openai
    base_url: http://127.0.0.1:${port}/v1
    api_key: bench
    dialect: { responses: true }
  - name: claude
    kind: anthropic
    base_url: http://127.0.0.1:${port}/v1
    api_key: bench
`,
  manifests: {
    [CLAUDE]: manifestOf(CLAUDE, "claude"),
    [VECTORS]: vectorsManifestOf(VECTORS),
    [RESPONSES_MODELS.json]: manifestOf(RESPONSES_MODELS.json, "responses", JSON_MODEL),
    [RESPONSES_MODELS.stream]: manifestOf(RESPONSES_MODELS.stream, "responses", STREAM_MODEL),
  },
};

interface Asked {
  path: string;
  body: object;
}

/** A surface and chat completions, on the same route; null if the surface has no streams. */
interface Pair {
  name: string;
  whole: { own: Asked; chat: Asked };
  stream: { own: Asked; chat: Asked } | null;
}

const chat = (model: string, script: ScriptName): Asked => ({
  path: "/v1/chat/completions",
  body: { ...(JSON.parse(chatBody(script)) as object), model },
});
const completion = (model: ScriptName, more: object = {}): Asked => ({
  path: "/v1/completions",
  body: { model, prompt: "Say how credits are held before a call and settled after it.", ...more },
});
const streamed = (body: object): object => ({ ...body, stream: true });

const PAIRS: readonly Pair[] = [
  {
    name: "responses",
    whole: {
      own: { path: "/v1/responses", body: RESPONSES.ask(RESPONSES_MODELS.json) },
      chat: chat(RESPONSES_MODELS.json, JSON_MODEL),
    },
    stream: {
      own: { path: "/v1/responses", body: streamed(RESPONSES.ask(RESPONSES_MODELS.stream)) },
      chat: chat(RESPONSES_MODELS.stream, STREAM_MODEL),
    },
  },
  {
    name: "messages",
    whole: { own: { path: "/v1/messages", body: MESSAGES.ask(CLAUDE) }, chat: chat(CLAUDE, JSON_MODEL) },
    stream: {
      own: { path: "/v1/messages", body: streamed(MESSAGES.ask(CLAUDE)) },
      chat: chat(CLAUDE, STREAM_MODEL),
    },
  },
  {
    name: "completions",
    whole: { own: completion(JSON_MODEL), chat: chat(JSON_MODEL, JSON_MODEL) },
    stream: {
      own: completion(STREAM_MODEL, { stream: true, stream_options: { include_usage: true } }),
      chat: chat(STREAM_MODEL, STREAM_MODEL),
    },
  },
  {
    name: "embeddings",
    whole: {
      own: { path: "/v1/embeddings", body: EMBEDDINGS.ask(VECTORS) },
      chat: chat(JSON_MODEL, JSON_MODEL),
    },
    stream: null,
  },
];

const OWN = "own";
const CHAT = "chat";

export async function surfaces({ upstream, scratchDir, checkout, plan }: Bench): Promise<Figure[]> {
  const tollgate = await startTollgate(upstream, scratchDir, { name: "surfaces", checkout, beside: BESIDE });
  const { warmUpMs, firstWarmUpMs, rounds } = plan;
  const on = { firstWarmUpMs, rounds };
  const whole = { concurrency: 64, durationMs: plan.jsonMs, warmUpMs };
  const stream = { concurrency: 32, durationMs: plan.streamMs, warmUpMs, spreadMs: 250 };
  const figures: Figure[] = [];
  try {
    for (const pair of PAIRS) {
      const perRequest = { section: `Surface ${pair.name}, whole, 64 in flight`, of: microsPerRequest };
      figures.push(...(await compared(tollgate, pair.whole, { ...perRequest, plan: whole, ...on })));
      if (pair.stream === null) continue;
      const perEvent = { section: `Surface ${pair.name}, 50 × 5 ms, 32 streams`, of: microsPerEvent };
      figures.push(...(await compared(tollgate, pair.stream, { ...perEvent, plan: stream, ...on })));
    }
    return figures;
  } finally {
    await tollgate.process.stop();
  }
}

const microsPerRequest = (cost: Cost): number => per1000Requests(cost) * 1000;

interface Comparison {
  section: string;
  plan: Omit<CostPlan, "model" | "body">;
  rounds: number;
  /** For each side before the first round: the pair before may have warmed up one of the two. */
  firstWarmUpMs: number;
  /** Microseconds. */
  of: (cost: Cost) => number;
}

/** Measures both sides alternately in the same process. */
async function compared(
  { process, target }: TollgatePeer,
  asked: { own: Asked; chat: Asked },
  { section, plan, rounds, firstWarmUpMs, of }: Comparison,
): Promise<Figure[]> {
  const sides: RunningPeer[] = [
    { name: OWN, process, target: { ...target, path: asked.own.path } },
    { name: CHAT, process, target: { ...target, path: asked.chat.path } },
  ];
  const cost = (side: RunningPeer, durationMs: number): Promise<Cost> => {
    const { body } = side.name === OWN ? asked.own : asked.chat;
    return costOf(side, { ...plan, durationMs, model: JSON_MODEL, body: JSON.stringify(body) });
  };
  for (const side of sides) await cost(side, firstWarmUpMs);
  const samples = await interleave(sides, rounds, (side) => cost(side, plan.durationMs));
  const own = valuesOf(samples, OWN, of);
  const beside = valuesOf(samples, CHAT, of);
  const place = { section, peer: TOLLGATE, unit: "µs" };
  return [
    figure({ ...place, name: "CPU of the surface" }, own),
    figure({ ...place, name: "CPU of chat completions" }, beside),
    figure({ ...place, name: "ratio", unit: "×" }, ratios(own, beside), GOALS.surfaceRatio),
  ];
}
