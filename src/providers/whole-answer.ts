// A non-streamed body of the OpenAI shape → `Answer`. A 200 that holds an error, or no choice that finished, is a broken
// upstream and proves nothing about the call (wire.md §8.3).
import { Failure } from "./failure.ts";
import { ChunkReader } from "./parts-of-chunk.ts";
import type { Answer, AnswerChoice, Part, ProviderUsage } from "./provider.ts";
import { isObject } from "./usage.ts";

/** Throws `Failure` when the body is not a complete answer with `choices` choices. */
export function readAnswer(body: Record<string, unknown>, choices: number): Answer {
  const reader = new ChunkReader(choices);
  const parts = reader.read(body);
  if (!reader.complete)
    throw new Failure("broken", "unknown", "the upstream's answer has no finished choice", { id: reader.id });
  const answers = new Map<number, AnswerChoice>();
  let usage: ProviderUsage | null = null;
  for (const part of parts) {
    if (part.type === "usage") usage = part.usage;
    else add(choiceOf(answers, part.choice), part);
  }
  for (const raw of body["choices"] as unknown[]) if (isObject(raw)) keepLogprobs(raw, answers);
  return {
    choices: [...answers.values()].toSorted((a, b) => a.index - b.index),
    usage,
    upstreamId: reader.id,
  };
}

function choiceOf(answers: Map<number, AnswerChoice>, index: number): AnswerChoice {
  let choice = answers.get(index);
  if (choice === undefined) {
    choice = {
      index,
      content: null,
      refusal: null,
      reasoning: null,
      toolCalls: [],
      annotations: null,
      logprobs: null,
      finishReason: "stop",
    };
    answers.set(index, choice);
  }
  return choice;
}

function add(choice: AnswerChoice, part: Exclude<Part, { type: "usage" }>): void {
  switch (part.type) {
    case "text":
      choice.content = (choice.content ?? "") + part.text;
      return;
    case "refusal":
      choice.refusal = (choice.refusal ?? "") + part.text;
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
      // An empty text is content "", unless a tool call stands in its place.
      if (choice.content === null && choice.refusal === null && choice.toolCalls.length === 0)
        choice.content = "";
      return;
  }
}

/** `logprobs` may come without text, so they are taken from the body itself. */
function keepLogprobs(raw: Record<string, unknown>, answers: Map<number, AnswerChoice>): void {
  const choice = answers.get(typeof raw["index"] === "number" ? raw["index"] : 0);
  if (choice !== undefined) choice.logprobs = raw["logprobs"] ?? null;
}
