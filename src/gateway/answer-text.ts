// The texts of a whole answer: those that the customer receives, and those that prove what the model put out, where its provider told no
// usage, or too little.
import type { TokenizerName } from "../domain/release.ts";
import { countTokens } from "../pricing/tokens.ts";
import type { Answer, AnswerChoice } from "../providers/provider.ts";

/** Of one choice. */
export const textsOf = ({ reasoning, content, refusal, toolCalls }: AnswerChoice): string[] => [
  reasoning ?? "",
  content ?? "",
  refusal ?? "",
  ...toolCalls.flatMap((call) => [call.name, call.arguments]),
];

/** UTF-16 units of one choice. */
export function charactersIn({ reasoning, content, refusal, toolCalls }: AnswerChoice): number {
  let sum = (reasoning?.length ?? 0) + (content?.length ?? 0) + (refusal?.length ?? 0);
  for (const call of toolCalls) sum += call.name.length + call.arguments.length;
  return sum;
}

/** UTF-16 units of the answer that are the model's for certain: a refusal may be its provider's, a guard's words are a guard's. */
export function charactersOf({ choices }: Answer): number {
  let sum = 0;
  for (const choice of choices)
    if (choice.guarded !== true) sum += charactersIn(choice) - (choice.refusal?.length ?? 0);
  return sum;
}

/** It was refused, or kept back by a filter. */
export const isRefused = ({ refusal, finishReason }: AnswerChoice): boolean =>
  refusal !== null || finishReason === "content_filter";

/** Tokens of the same: of each text by itself, as of a stream. */
export async function deliveredOf(
  answer: Answer,
  tokenizer: TokenizerName,
  organizationId: string,
): Promise<number> {
  const share = { organizationId, lane: "settlement" } as const;
  const own = answer.choices.filter(({ guarded }) => guarded !== true);
  const texts = own.flatMap((choice) => textsOf({ ...choice, refusal: null })).filter((text) => text !== "");
  const counts = await Promise.all(texts.map((text) => countTokens([text], tokenizer, share)));
  return counts.reduce((sum, count) => sum + count, 0);
}
