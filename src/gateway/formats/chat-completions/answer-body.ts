// The body of a non-streamed completion (specification 2.2, wire.md §2). Printed before settlement, because a caller's
// key keeps these exact bytes.
import { wireJson } from "../../../domain/wire-json.ts";
import type { Answer, AnswerChoice } from "../../../providers/provider.ts";
import type { TokenUsage } from "../../../ledger/ledger.ts";
import type { AnswerHead, AnswerFigures } from "../format.ts";

/** The id of a completion: the request's digits under another name (wire.md, head). */
export const completionId = (requestId: string): string => `chatcmpl-${requestId.slice(4)}`;

/** Prints the whole body. */
export function printAnswer(head: AnswerHead, answer: Answer, { usage, gateway }: AnswerFigures): string {
  return (
    `{"id":"${completionId(head.requestId)}","object":"chat.completion","created":${head.created},"model":${JSON.stringify(head.model)}` +
    `,"choices":${wireJson(answer.choices.map(wireChoice))},"usage":${printUsage(usage)},"gateway":${gateway}}`
  );
}

/** `usage`: totals are always the sum; details only when the provider told them, beside cached and reasoning only those that there are. */
export function printUsage(usage: TokenUsage): string {
  const { promptTokens, completionTokens } = usage;
  let text = `{"prompt_tokens":${promptTokens},"completion_tokens":${completionTokens},"total_tokens":${promptTokens + completionTokens}`;
  text += printDetails("prompt_tokens_details", {
    cached_tokens: usage.cachedTokens,
    cache_write_tokens: usage.cacheWriteTokens,
    audio_tokens: usage.audioInputTokens,
  });
  text += printDetails("completion_tokens_details", {
    reasoning_tokens: usage.reasoningTokens,
    audio_tokens: usage.audioOutputTokens,
  });
  return `${text}}`;
}

/** Of the counts that are known; nothing where none is. */
function printDetails(name: string, counts: Record<string, number | null | undefined>): string {
  let known = "";
  for (const detail in counts) {
    const count = counts[detail];
    if (typeof count === "number") known += `${known === "" ? "" : ","}"${detail}":${count}`;
  }
  return known === "" ? "" : `,"${name}":{${known}}`;
}

function wireChoice(choice: AnswerChoice): unknown {
  return {
    index: choice.index,
    message: {
      role: "assistant",
      content: choice.content === "" && choice.toolCalls.length > 0 ? null : choice.content,
      refusal: choice.refusal,
      ...(choice.reasoning ? { reasoning_content: choice.reasoning } : {}),
      ...(choice.toolCalls.length > 0 ? { tool_calls: choice.toolCalls.map(wireToolCall) } : {}),
      ...(choice.annotations ? { annotations: choice.annotations } : {}),
    },
    logprobs: choice.logprobs ?? null,
    finish_reason: choice.finishReason,
  };
}

function wireToolCall(call: AnswerChoice["toolCalls"][number]): unknown {
  return {
    id: call.id,
    type: "function",
    function: { name: call.name, arguments: call.arguments === "" ? "{}" : call.arguments },
    ...(call.extraContent ? { extra_content: call.extraContent } : {}),
  };
}
