// The body of a non-streamed completion (specification 2.2, wire.md §2). Printed before settlement, because these exact bytes are
// stored under a caller's key.
import { NO_ARGUMENTS } from "../../../domain/tool-arguments.ts";
import { wireJson } from "../../../domain/wire-json.ts";
import type { Answer, AnswerChoice, FinishReason } from "../../../providers/provider.ts";
import type { TokenUsage } from "../../../ledger/records.ts";
import type { AnswerHead, AnswerFigures } from "../format.ts";

/** The id of a completion: the request's digits with another prefix (wire.md, head). */
export const completionId = (requestId: string): string => `chatcmpl-${requestId.slice(4)}`;

/** Whether the last thing said may lack its end. */
export const isCut = (reason: FinishReason): boolean => reason === "length" || reason === "content_filter";

/** Prints the whole body. */
export function printAnswer(head: AnswerHead, answer: Answer, { usage, gateway }: AnswerFigures): string {
  return (
    `{"id":"${completionId(head.requestId)}","object":"chat.completion","created":${head.created},"model":${JSON.stringify(head.model)}` +
    `,"choices":${wireJson(answer.choices.map(wireChoice))},"usage":${printUsage(usage)},"gateway":${gateway}}`
  );
}

/**
 * `usage`: totals are always the sum. Details only if the provider reported them; of those other than cached and reasoning only the
 * ones that exist.
 */
export function printUsage(usage: TokenUsage): string {
  const { promptTokens, completionTokens } = usage;
  const prompt =
    known("cached_tokens", usage.cachedTokens) +
    known("cache_write_tokens", usage.cacheWriteTokens) +
    known("audio_tokens", usage.audioInputTokens);
  const completion =
    known("reasoning_tokens", usage.reasoningTokens) + known("audio_tokens", usage.audioOutputTokens);
  return (
    `{"prompt_tokens":${promptTokens},"completion_tokens":${completionTokens},"total_tokens":${promptTokens + completionTokens}` +
    `${details("prompt_tokens_details", prompt)}${details("completion_tokens_details", completion)}}`
  );
}

/** One count with a leading comma; empty if it is not known. */
const known = (name: string, count: number | null | undefined): string =>
  typeof count === "number" ? `,"${name}":${count}` : "";

const details = (name: string, counts: string): string =>
  counts === "" ? "" : `,"${name}":{${counts.slice(1)}}`;

/** Members without a value are not printed. */
const wireChoice = (choice: AnswerChoice): unknown => ({
  index: choice.index,
  message: {
    role: "assistant",
    content: choice.content === "" && choice.toolCalls.length > 0 ? null : choice.content,
    refusal: choice.refusal,
    reasoning_content: choice.reasoning || undefined,
    tool_calls: choice.toolCalls.length > 0 ? wireToolCalls(choice) : undefined,
    annotations: choice.annotations ?? undefined,
  },
  logprobs: choice.logprobs ?? null,
  finish_reason: choice.finishReason,
});

function wireToolCalls({ toolCalls, finishReason }: AnswerChoice): unknown[] {
  const cut = isCut(finishReason) ? toolCalls.at(-1) : null;
  return toolCalls.map((call) => ({
    id: call.id,
    type: "function",
    function: {
      name: call.name,
      arguments: call.arguments === "" && call !== cut ? NO_ARGUMENTS : call.arguments,
    },
    ...(call.extraContent ? { extra_content: call.extraContent } : {}),
  }));
}
