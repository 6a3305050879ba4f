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
export const charactersIn = (choice: AnswerChoice): number =>
  textsOf(choice).reduce((sum, text) => sum + text.length, 0);

/** UTF-16 units of the answer. */
export const charactersOf = ({ choices }: Answer): number =>
  choices.reduce((sum, choice) => sum + charactersIn(choice), 0);

/** Tokens of the answer. */
export const deliveredOf = (
  answer: Answer,
  tokenizer: TokenizerName,
  organizationId: string,
): Promise<number> =>
  countTokens(answer.choices.flatMap(textsOf), tokenizer, { organizationId, lane: "settlement" });
