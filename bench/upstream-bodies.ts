// The bytes that the benchmark's upstream sends, built once: an OpenAI-shaped answer per JSON script and the events
// of a stream.
import { PROMPT_TOKENS, SCRIPTS, SCRIPT_NAMES } from "./scripts.ts";
import type { ScriptName } from "./scripts.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const event = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
const WORDS = "Durable holds come first, settled sums come last, and no token is paid for twice. ";

const usage = (completionTokens: number): object => ({
  prompt_tokens: PROMPT_TOKENS,
  completion_tokens: completionTokens,
  total_tokens: PROMPT_TOKENS + completionTokens,
  prompt_tokens_details: { cached_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0 },
});

function answerOf(model: ScriptName, content: string): string {
  return JSON.stringify({
    id: "chatcmpl-bench",
    object: "chat.completion",
    created: 1_789_000_000,
    model,
    choices: [
      {
        index: 0,
        message: { role: "assistant", content, refusal: null },
        logprobs: null,
        finish_reason: "stop",
      },
    ],
    usage: usage(SCRIPTS[model].completionTokens),
    system_fingerprint: "fp_bench",
  });
}

const answers = new Map(
  SCRIPT_NAMES.flatMap((name) => {
    const script = SCRIPTS[name];
    if (script.kind !== "json") return [];
    const room = script.replyBytes - answerOf(name, "").length;
    return [[name, bytes(answerOf(name, WORDS.repeat(200).slice(0, room)))] as const];
  }),
);

/** The whole reply of a JSON script; throws for a model that streams. */
export function jsonAnswer(model: ScriptName): Uint8Array {
  const answer = answers.get(model);
  if (answer === undefined) throw new Error(`${model} is no JSON script`);
  return answer;
}

const chunk = (delta: object, finish: string | null): object => ({
  id: "chatcmpl-bench",
  object: "chat.completion.chunk",
  created: 1_789_000_000,
  model: "bench-sse",
  system_fingerprint: "fp_bench",
  choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
  usage: null,
});

export const STREAM_ROLE = bytes(event(chunk({ role: "assistant", content: "", refusal: null }, null)));
export const STREAM_EVENT = bytes(event(chunk({ content: " durable" }, null)));
export const FLOOD_EVENT = bytes(event(chunk({ content: WORDS.repeat(100) }, null)));

/** The last three events of a stream: finish, usage of a stream of `completionTokens`, `[DONE]`. */
export const streamEnd = (completionTokens: number): Uint8Array =>
  bytes(
    event(chunk({}, "stop")) +
      event({ ...chunk({}, null), choices: [], usage: usage(completionTokens) }) +
      "data: [DONE]\n\n",
  );
