// Tries out a provider by hand: whether it is reachable, accepts our key, answers whole, streamed and with a tool,
// and reports its usage. Makes three small paid calls, each at most once. A failed step says how it failed, in words
// without secrets.
import { NO_CAPABILITIES } from "../domain/capabilities.ts";
import { type ChatRequest, emptyRequest } from "../domain/chat-request.ts";
import { ZERO_USD } from "../domain/money.ts";
import { Refusal } from "../domain/refusals.ts";
import type { Release } from "../domain/release.ts";
import { Failure } from "./failure.ts";
import { answerOfParts } from "./http/answer.ts";
import type { CallDraft, OutgoingBody, Part, Provider, ProviderCall, ProviderUsage } from "./provider.ts";

export interface Trial {
  check: "reachable" | "key" | "answer" | "stream" | "tool call" | "usage";
  state: "ok" | "failed" | "note" | "skipped";
  found: string;
  /** The failure, for the caller that suggests what to do next; null if nothing failed. */
  failure: Failure | null;
}

/** The smallest maximum of output tokens that every vendor accepts, and one with room for a call's arguments. */
const WORD_TOKENS = 16;
const CALL_TOKENS = 128;

const PING: ChatRequest["tools"] = [
  {
    type: "function",
    function: { name: "ping", description: "Answers pong.", parameters: { type: "object", properties: {} } },
  },
];

type Asked = Partial<ChatRequest> & { ceiling: number };

const WORD: Asked = { ceiling: WORD_TOKENS, messages: [{ role: "user", content: "Say: ok" }] };
const STREAM: Asked = { ...WORD, stream: true };
const CALL: Asked = {
  ceiling: CALL_TOKENS,
  messages: [{ role: "user", content: "Call the tool ping." }],
  tools: PING,
};

const releaseOf = (provider: string, upstreamModel: string): Release => ({
  digest: "0".repeat(64),
  route: `trial@${provider}/here`,
  version: 1,
  model: upstreamModel,
  provider,
  upstreamModel,
  region: "here",
  tier: "standard",
  requiresPaid: false,
  contextWindow: 8192,
  maxOutputTokens: CALL_TOKENS,
  defaultOutputTokens: CALL_TOKENS,
  price: { input: ZERO_USD, cachedInput: ZERO_USD, output: ZERO_USD, requestMinimum: ZERO_USD },
  publishedPrice: { input_per_million: "0", output_per_million: "0", request_minimum: "0" },
  reasoning: null,
  tokenizer: "bytes",
  capabilities: { ...NO_CAPABILITIES, tools: true },
  imageTokensMax: null,
  fileTokensMax: null,
  filePagesMax: null,
  remoteImages: false,
  defaults: {},
  priority: 1,
  weight: 1,
  issuedAtMs: 0,
  expiresAtMs: Number.MAX_SAFE_INTEGER,
  signedBy: "trial",
});

function draftOf(provider: Provider, model: string, { ceiling: _ceiling, ...asked }: Asked): CallDraft {
  const request = { ...emptyRequest(), model, ...asked };
  return {
    release: releaseOf(provider.name, model),
    request,
    reasoningEffort: null,
    temperature: null,
    identifiers: {},
  };
}

/** Builds the body, with the tool required if the model supports that; otherwise the message asks for it. */
function bodyOf(provider: Provider, model: string, asked: Asked): OutgoingBody {
  if (asked.tools === undefined) return provider.prepare(draftOf(provider, model, asked));
  try {
    return provider.prepare(draftOf(provider, model, { ...asked, toolChoice: "required" }));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return provider.prepare(draftOf(provider, model, asked));
  }
}

/** The bound that a quote uses (`PromptSize`). */
const promptBound = ({ size: { bytes, messages, tools } }: OutgoingBody): number =>
  bytes + 8 * messages + 16 * tools + 16;

/** Returns the most that all calls of a trial use: bytes bound the tokens of their prompts. */
export function trialTokens(provider: Provider, model: string): { prompt: number; output: number } {
  const all = [WORD, STREAM, CALL];
  return {
    prompt: all.reduce((sum, asked) => sum + promptBound(bodyOf(provider, model, asked)), 0),
    output: all.reduce((sum, { ceiling }) => sum + ceiling, 0),
  };
}

/** Yields each step as it ends, and skips those that a failure makes pointless. Without a model no paid call is made. */
export async function* tryProvider(
  provider: Provider,
  { model, probed }: { model: string | null; probed: boolean },
): AsyncGenerator<Trial> {
  const there = await trial("reachable", async () => {
    await provider.probe(AbortSignal.timeout(TRIAL_MS));
    return "connected";
  });
  const away = there.failure !== null && AWAY.has(there.failure.reason);
  if (probed && !away) yield { ...there, state: "ok", found: "connected", failure: null };
  if (probed && !away)
    yield { ...there, check: "key", ...(there.failure === null && { found: "not refused" }) };
  else yield there;
  if (there.state === "failed" || model === null) {
    for (const check of ["answer", "stream", "tool call", "usage"] as const)
      yield {
        check,
        state: "skipped",
        found: model === null ? "no model was given" : "not tried",
        failure: null,
      };
    return;
  }
  const told: (ProviderUsage | null)[] = [];
  const whole = await trial("answer", async () => {
    const { choices, usage } = await provider.complete(callOf(provider, model, WORD));
    told.push(usage);
    return `${choices[0]?.finishReason}: ${(choices[0]?.content ?? "").length} characters`;
  });
  yield whole;
  if (whole.failure !== null && HOPELESS.has(whole.failure.reason)) {
    for (const check of ["stream", "tool call", "usage"] as const)
      yield { check, state: "skipped", found: "not tried", failure: null };
    return;
  }
  yield await trial("stream", async () => {
    const { parts } = await provider.stream(callOf(provider, model, STREAM));
    const all: Part[] = [];
    for await (const group of parts) all.push(...group);
    const { usage, choices } = answerOfParts(all);
    told.push(usage);
    return `${choices[0]?.finishReason}: ${all.length} parts`;
  });
  yield await trial("tool call", async () => {
    const { choices, usage } = await provider.complete(callOf(provider, model, CALL));
    told.push(usage);
    const called = choices[0]?.toolCalls.map(({ name }) => name).join(", ") ?? "";
    if (called === "") throw new NotCalled(`answered in words (${choices[0]?.finishReason})`);
    return `called ${called}`;
  });
  yield usageTrial(told);
}

/** A model that answers in words does not mean that the provider is broken. */
class NotCalled extends Error {}

const TRIAL_MS = 60_000;
/** No connection was made. */
const AWAY: ReadonlySet<string> = new Set(["connect", "connect_timeout", "shortage"]);
/** Causes that every further call would meet. */
const HOPELESS: ReadonlySet<string> = new Set([...AWAY, "account", "quota", "rejected"]);

async function trial(check: Trial["check"], step: () => Promise<string>): Promise<Trial> {
  try {
    return { check, state: "ok", found: await step(), failure: null };
  } catch (error) {
    if (error instanceof NotCalled) return { check, state: "note", found: error.message, failure: null };
    if (error instanceof Refusal) return { check, state: "note", found: error.message, failure: null };
    if (!(error instanceof Failure)) throw error;
    const words = error.upstream.words === undefined ? "" : `: ${error.upstream.words}`;
    return { check, state: "failed", found: `${error.message}${words}`, failure: error };
  }
}

function usageTrial(told: readonly (ProviderUsage | null)[]): Trial {
  const silent = told.filter((usage) => usage === null).length;
  const [first] = told;
  if (told.length === 0)
    return { check: "usage", state: "skipped", found: "nothing was answered", failure: null };
  if (silent === 0)
    return {
      check: "usage",
      state: "ok",
      found: `reported by each answer; the first used ${first?.promptTokens} + ${first?.completionTokens} tokens`,
      failure: null,
    };
  return {
    check: "usage",
    state: "note",
    found: `not reported by ${silent} of ${told.length} answers; those are charged by our own count`,
    failure: null,
  };
}

const callOf = (provider: Provider, model: string, asked: Asked): ProviderCall => ({
  requestId: `trial_${crypto.randomUUID()}`,
  attempt: 1,
  request: draftOf(provider, model, asked).request,
  upstreamModel: model,
  body: bodyOf(provider, model, asked),
  outputCeiling: asked.ceiling,
  signal: AbortSignal.timeout(TRIAL_MS),
});
