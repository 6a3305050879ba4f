// Builds a whole answer from the parts that a codec read from one body. An answer with a missing choice is not an
// answer, and proves nothing about the call (wire.md §8.3).
import type { AnswerReader } from "../codec.ts";
import { Failure } from "../failure.ts";
import type { Answer, AnswerChoice, Part, ProviderUsage } from "../provider.ts";

/** Reads the text of a response with status 200. Throws `Failure` if it is not a complete answer. */
export function answerOf(text: string, reader: Omit<AnswerReader<never>, "event">): Answer {
  const parts: Part[] = [];
  reader.whole(text, parts);
  if (!reader.complete) throw incomplete(reader, "the upstream's answer lacks a choice");
  reader.close(parts);
  const { id: upstreamId, vectors } = reader;
  const { choices, usage } = answerOfParts(parts);
  return vectors === undefined ? { choices, usage, upstreamId } : { choices, usage, upstreamId, vectors };
}

/** The failure of an incomplete answer: the upstream broke off, or gave fewer choices than requested. */
export const incomplete = (
  { partly, id }: Pick<AnswerReader<never>, "partly" | "id">,
  what: string,
): Failure => new Failure(partly === true ? "no_answer" : "broken", "unknown", what, { id });

/** Returns the choices and the last usage of the parts. */
export function answerOfParts(parts: readonly Part[]): Omit<Answer, "upstreamId"> {
  const choices: AnswerChoice[] = [];
  let usage: ProviderUsage | null = null;
  for (const part of parts) {
    if (part.type === "usage") usage = part.usage;
    else if (part.type !== "native") add(choiceOf(choices, part.choice), part);
  }
  return { choices: choices.length < 2 ? choices : choices.toSorted(byIndex), usage };
}

const byIndex = (a: AnswerChoice, b: AnswerChoice): number => a.index - b.index;

/** A release allows so few choices (`max_n`) that no index is needed. */
function choiceOf(choices: AnswerChoice[], index: number): AnswerChoice {
  for (const choice of choices) if (choice.index === index) return choice;
  const choice: AnswerChoice = {
    index,
    content: null,
    refusal: null,
    reasoning: null,
    toolCalls: [],
    annotations: null,
    logprobs: null,
    finishReason: "stop",
  };
  choices.push(choice);
  return choice;
}

function add(choice: AnswerChoice, part: Exclude<Part, { type: "usage" | "native" }>): void {
  switch (part.type) {
    case "text":
      choice.content = choice.content === null ? part.text : choice.content + part.text;
      choice.logprobs = part.logprobs ?? null;
      return;
    case "refusal":
      choice.refusal = (choice.refusal ?? "") + part.text;
      if (part.explains === true) choice.explains = true;
      return;
    case "reasoning":
      choice.reasoning = (choice.reasoning ?? "") + part.text;
      return;
    case "tool_call": {
      const { id, name, extraContent } = part;
      choice.toolCalls.push({ id, name, arguments: "", ...(extraContent && { extraContent }) });
      return;
    }
    case "tool_arguments": {
      const call = choice.toolCalls[part.index];
      if (call === undefined) throw new Error(`arguments for tool call ${part.index}, which never began`);
      call.arguments += part.text;
      return;
    }
    case "annotations":
      choice.annotations = part.annotations;
      return;
    case "finish":
      choice.finishReason = part.reason;
      if (part.guarded === true) choice.guarded = true;
      // An empty text is content "", unless there is something in its place.
      if (choice.content === null && choice.refusal === null && choice.toolCalls.length === 0)
        choice.content = "";
      return;
  }
}
