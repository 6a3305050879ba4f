// Cuts a whole body that exceeded its output maximum where a stream would have been cut: at the ceiling, with finish reason
// `length` (money.md §12 fault 51). Anything beyond that is the provider's own affair, and recorded.
import type { TokenizerName } from "../domain/release.ts";
import { CHARACTERS_PER_TOKEN_MAX } from "../pricing/believed-usage.ts";
import { type CountText, firstTokens } from "../pricing/cut-text.ts";
import { countTokens } from "../pricing/tokens.ts";
import type { Answer, AnswerChoice } from "../providers/provider.ts";
import { charactersIn, textsOf } from "./answer-text.ts";
import type { Admitted } from "./hold.ts";

export interface Ceiled {
  answer: Answer;
  /** More was delivered than was asked for. */
  overrun: boolean;
}

/**
 * Cuts each choice at the output ceiling. Counts only if a cheap sign says that it may be longer: the reported usage, or more text
 * than that many tokens can be.
 */
export function withinCeiling(
  answer: Answer,
  admitted: Pick<Admitted, "outputCeiling" | "organizationId">,
  tokenizer: TokenizerName,
): Ceiled | Promise<Ceiled> {
  const { choices, usage } = answer;
  const { outputCeiling: ceiling } = admitted;
  const toldTooMuch = (usage?.completionTokens ?? 0) > ceiling * choices.length;
  for (const choice of choices)
    if (toldTooMuch || mayOverrun(choice, ceiling))
      return counted(answer, admitted, { tokenizer, toldTooMuch });
  return { answer, overrun: false };
}

const mayOverrun = (choice: AnswerChoice, ceiling: number): boolean =>
  charactersIn(choice) > ceiling * CHARACTERS_PER_TOKEN_MAX;

async function counted(
  answer: Answer,
  { outputCeiling: ceiling, organizationId }: Pick<Admitted, "outputCeiling" | "organizationId">,
  { tokenizer, toldTooMuch }: { tokenizer: TokenizerName; toldTooMuch: boolean },
): Promise<Ceiled> {
  const { choices } = answer;
  const count: CountText = (texts) => countTokens(texts, tokenizer, { organizationId, lane: "settlement" });
  const cut: AnswerChoice[] = [];
  for (const choice of choices) {
    const suspicious = toldTooMuch || mayOverrun(choice, ceiling);
    cut.push(suspicious ? await cutChoice(choice, ceiling, count) : choice);
  }
  const overrun = cut.some((choice, at) => choice !== choices[at]);
  return { answer: overrun ? { ...answer, choices: cut, native: null } : answer, overrun };
}

async function cutChoice(choice: AnswerChoice, ceiling: number, count: CountText): Promise<AnswerChoice> {
  if ((await count(textsOf(choice))) <= ceiling) return choice;
  let left = ceiling;
  const take = async (text: string | null): Promise<string | null> => {
    if (text === null) return null;
    const taken = await firstTokens(text, left, count);
    left = taken === text ? Math.max(0, left - (await count([text]))) : 0;
    return taken;
  };
  const reasoning = await take(choice.reasoning);
  const content = await take(choice.content);
  const refusal = await take(choice.refusal);
  const toolCalls: AnswerChoice["toolCalls"] = [];
  for (const call of choice.toolCalls) {
    const text = call.name + call.arguments;
    if ((await take(text)) !== text) break; // half a call must not be executed
    toolCalls.push(call);
  }
  const silent = content === null && refusal === null && toolCalls.length === 0;
  return {
    ...choice,
    reasoning,
    content: silent ? "" : content,
    refusal,
    toolCalls,
    logprobs: null, // some of their tokens are gone
    finishReason: "length",
  };
}
