// The texts of a whole answer: those that the customer receives, and those that prove what the model produced if its provider
// reported no usage, or too little.
import type { TokenizerName } from "../domain/release.ts";
import { countTokens } from "../pricing/tokens.ts";
import type { Answer, AnswerChoice } from "../providers/provider.ts";

/** The texts of one choice. */
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

/**
 * UTF-16 units of the answer that are certainly the model's: neither its provider's explanation nor what may be a guard's words.
 */
export function charactersOf({ choices }: Answer): number {
  let sum = 0;
  for (const choice of choices) if (choice.guarded !== true) sum += charactersIn(own(choice));
  return sum;
}

const own = (choice: AnswerChoice): AnswerChoice =>
  choice.explains === true ? { ...choice, refusal: null } : choice;

/** Whether the choice was refused, or withheld by a filter. */
export const isRefused = ({ refusal, finishReason }: AnswerChoice): boolean =>
  refusal !== null || finishReason === "content_filter";

/** Their tokens, counted text by text as for a stream. */
export async function deliveredOf(
  answer: Answer,
  tokenizer: TokenizerName,
  organizationId: string,
): Promise<number> {
  const share = { organizationId, lane: "settlement" } as const;
  const said = answer.choices.filter(({ guarded }) => guarded !== true);
  const texts = said.flatMap((choice) => textsOf(own(choice))).filter((text) => text !== "");
  const counts = await Promise.all(texts.map((text) => countTokens([text], tokenizer, share)));
  return counts.reduce((sum, count) => sum + count, 0);
}
