// The texts of a whole answer that the customer receives: what is counted where a provider told no usage, or too much.
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

/** UTF-16 units of the answer. */
export function charactersOf({ choices }: Answer): number {
  let sum = 0;
  for (const choice of choices) sum += charactersIn(choice);
  return sum;
}

/** Tokens of the answer: of each text by itself, as of a stream. */
export async function deliveredOf(
  answer: Answer,
  tokenizer: TokenizerName,
  organizationId: string,
): Promise<number> {
  const share = { organizationId, lane: "settlement" } as const;
  const texts = answer.choices.flatMap(textsOf).filter((text) => text !== "");
  const counts = await Promise.all(texts.map((text) => countTokens([text], tokenizer, share)));
  return counts.reduce((sum, count) => sum + count, 0);
}
