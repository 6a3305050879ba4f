// The body of a text completion that is not streamed, printed before settlement like any other.
import { wireJson } from "../../../domain/wire-json.ts";
import type { Answer, AnswerChoice, FinishReason } from "../../../providers/provider.ts";
import { printUsage } from "../chat-completions/answer-body.ts";
import type { AnswerFigures, AnswerHead } from "../format.ts";

/** The id of a text completion: the request's digits with another prefix. */
export const textCompletionId = (requestId: string): string => `cmpl-${requestId.slice(4)}`;

/** Prints the whole body. */
export function printTexts(head: AnswerHead, answer: Answer, { usage, gateway }: AnswerFigures): string {
  return `${printHead(head)}${wireJson(answer.choices.map(wireChoice))},"usage":${printUsage(usage)},"gateway":${gateway}}`;
}

/** A body, and each chunk of a stream, up to its choices. */
export const printHead = ({ requestId, created, model }: AnswerHead): string =>
  `{"id":"${textCompletionId(requestId)}","object":"text_completion","created":${created},"model":${JSON.stringify(model)},"choices":`;

/** This surface has no finish reason for tool calls, which nobody can request here. */
export const finishReasonOf = (reason: FinishReason): string => (reason === "tool_calls" ? "stop" : reason);

/** A refusal is part of the text here; reasoning is separate from the text, as in chat completions. */
const wireChoice = ({ index, content, refusal, reasoning, finishReason }: AnswerChoice): unknown => ({
  text: `${content ?? ""}${refusal ?? ""}`,
  index,
  logprobs: null,
  ...(reasoning ? { reasoning_content: reasoning } : {}),
  finish_reason: finishReasonOf(finishReason),
});
