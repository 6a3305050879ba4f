// The body of a non-streamed completion (specification 2.2, wire.md §2). Printed before settlement, because a caller's
// key keeps these exact bytes.
import type { TokenizerName } from "../contract/release.ts";
import { wireJson } from "../contract/wire-json.ts";
import { countTokens } from "../pricing/tokens.ts";
import type { Answer, AnswerChoice } from "../providers/provider.ts";
import type { TokenUsage } from "../ledger/ledger.ts";

export interface AnswerHead {
  id: string;
  /** Unix seconds. */
  created: number;
  /** The public model id. */
  model: string;
}

/** Prints the whole body; `usage` and `gateway` are printed already. */
export function printAnswer(
  head: AnswerHead,
  answer: Answer,
  figures: { usage: string; gateway: string },
): string {
  return (
    `{"id":"${head.id}","object":"chat.completion","created":${head.created},"model":${JSON.stringify(head.model)}` +
    `,"choices":${wireJson(answer.choices.map(wireChoice))},"usage":${figures.usage},"gateway":${figures.gateway}}`
  );
}

/** `usage`: totals are always the sum; details only when the provider told them. */
export function printUsage(usage: TokenUsage): string {
  const { promptTokens, completionTokens, cachedTokens, reasoningTokens } = usage;
  let text = `{"prompt_tokens":${promptTokens},"completion_tokens":${completionTokens},"total_tokens":${promptTokens + completionTokens}`;
  if (cachedTokens !== null) text += `,"prompt_tokens_details":{"cached_tokens":${cachedTokens}}`;
  if (reasoningTokens !== null)
    text += `,"completion_tokens_details":{"reasoning_tokens":${reasoningTokens}}`;
  return `${text}}`;
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

/** Tokens of everything in the answer that the customer receives; for answers without usage. */
export function deliveredOf(answer: Answer, tokenizer: TokenizerName): Promise<number> {
  const texts = answer.choices.flatMap((choice) => [
    choice.reasoning ?? "",
    choice.content ?? "",
    choice.refusal ?? "",
    ...choice.toolCalls.flatMap((call) => [call.name, call.arguments]),
  ]);
  return countTokens(texts, tokenizer);
}
