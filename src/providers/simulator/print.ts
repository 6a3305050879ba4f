// The simulator's answers in the OpenAI shape: whole bodies and stream events.
import type { Behaviour } from "./behaviour.ts";
import type { SimulatedAnswer, SimulatedChoice } from "./answer.ts";
import { logprobsOf } from "./logprobs.ts";

export interface Head {
  id: string;
  model: string;
  created: number;
  service_tier?: string;
}

const isReasoning = ({ reasoning }: SimulatedChoice["fragments"][number]): boolean => reasoning;
const sum = (numbers: number[]): number => numbers.reduce((total, n) => total + n, 0);

/** Returns the generated tokens, including hidden ones. */
export const completionTokensOf = ({ choices }: SimulatedAnswer): number =>
  sum(choices.flatMap(({ fragments }) => fragments.map(({ tokens }) => tokens)));

export function simulatedUsage(answer: SimulatedAnswer, behaviour: Behaviour): unknown {
  if (behaviour.usage_as_is !== undefined) return behaviour.usage_as_is;
  const { classes = {} } = behaviour;
  const prompt_tokens = behaviour.usage?.prompt_tokens ?? answer.promptTokens;
  const completion_tokens = behaviour.usage?.completion_tokens ?? completionTokensOf(answer);
  const reasoning = sum(
    answer.choices.flatMap(({ fragments }) => fragments.filter(isReasoning).map(({ tokens }) => tokens)),
  );
  return {
    prompt_tokens,
    completion_tokens,
    total_tokens: prompt_tokens + completion_tokens,
    prompt_tokens_details: {
      cached_tokens: classes.cached ?? 0,
      ...(classes.cache_write !== undefined && { cache_write_tokens: classes.cache_write }),
      ...(classes.audio_input !== undefined && { audio_tokens: classes.audio_input }),
      ...(classes.image_input !== undefined && { image_tokens: classes.image_input }),
    },
    completion_tokens_details: {
      reasoning_tokens: Math.min(reasoning, completion_tokens),
      ...(classes.audio_output !== undefined && { audio_tokens: classes.audio_output }),
    },
    ...(classes.searches !== undefined && { server_tool_use: { web_search_requests: classes.searches } }),
  };
}

/** Adds the service tier that the response names. */
export const named = (head: Head, { service_tier }: Behaviour): Head =>
  service_tier === undefined ? head : { ...head, service_tier };

/** Returns the body of a non-streamed answer. */
export function printBody(head: Head, answer: SimulatedAnswer, behaviour: Behaviour): unknown {
  return {
    ...named(head, behaviour),
    object: "chat.completion",
    choices: answer.choices.map((choice, index) => ({
      index,
      message: messageOf(choice),
      logprobs: logprobsOf(choice.fragments, answer.topLogprobs),
      finish_reason: choice.finishReason,
    })),
    ...(behaviour.no_usage !== true && { usage: simulatedUsage(answer, behaviour) }),
  };
}

function messageOf({ fragments, finishReason }: SimulatedChoice): unknown {
  const joined = (name: string): string =>
    fragments
      .map(({ delta }) => delta[name])
      .filter((text) => typeof text === "string")
      .join("");
  const calls = fragments.flatMap(({ delta }) =>
    Array.isArray(delta["tool_calls"]) ? (delta["tool_calls"] as ToolDelta[]) : [],
  );
  const begun = calls.filter(({ id }) => id !== undefined);
  const reasoning = joined("reasoning_content");
  return {
    role: "assistant",
    content: finishReason === "tool_calls" ? null : joined("content"),
    refusal: null,
    ...(reasoning !== "" && { reasoning_content: reasoning }),
    ...(begun.length > 0 && {
      tool_calls: begun.map(({ index, id, function: { name } }) => ({
        id,
        type: "function",
        function: {
          name,
          arguments: calls
            .filter((call) => call.index === index)
            .map((call) => call.function.arguments)
            .join(""),
        },
      })),
    }),
  };
}

interface ToolDelta {
  index: number;
  id?: string;
  function: { name?: string; arguments: string };
}

/** Returns one chunk of a stream. */
export const printChunk = (head: Head, choices: unknown[], usage: unknown = null): string =>
  `data: ${JSON.stringify({ ...head, object: "chat.completion.chunk", choices, usage })}\n\n`;
