// A non-streamed body of the OpenAI shape → `Answer`. A 200 that holds an error, or not every choice, is a broken
// upstream and proves nothing about the call (wire.md §8.3).
import { Failure } from "./failure.ts";
import { ChunkReader, type ReaderOptions } from "./parts-of-chunk.ts";
import type { Answer, AnswerChoice, Part, ProviderUsage } from "./provider.ts";
import { isObject } from "./usage.ts";

/** Reads the text of a reply with status 200. Throws `Failure` when it is not a complete answer. */
export function readAnswer(text: string, options: ReaderOptions): Answer {
  const body = readBody(text);
  const choices = (Array.isArray(body["choices"]) ? (body["choices"] as unknown[]) : [])
    .filter(isObject)
    .map(completed);
  const reader = new ChunkReader(options);
  const parts: Part[] = [];
  reader.read({ ...body, choices }, parts);
  if (!reader.complete)
    throw new Failure("broken", "unknown", "the upstream's answer lacks a choice", { id: reader.id });
  reader.close(parts);
  const answers = new Map<number, AnswerChoice>();
  let usage: ProviderUsage | null = null;
  for (const part of parts) {
    if (part.type === "usage") usage = part.usage;
    else add(choiceOf(answers, part.choice), part);
  }
  return {
    choices: [...answers.values()].toSorted((a, b) => a.index - b.index),
    usage,
    upstreamId: reader.id,
  };
}

function readBody(text: string): Record<string, unknown> {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw new Failure("broken", "unknown", "the upstream answered 200 with something that is not JSON");
  }
  if (!isObject(body)) throw new Failure("broken", "unknown", "the upstream answered 200 without an object");
  if (body["error"] || body["object"] === "error")
    throw new Failure("broken", "unknown", "the upstream answered 200 with an error body");
  return body;
}

/** A whole body is its own proof of an end, so a missing reason is `stop`; a missing index is the place in the list. */
const completed = (choice: Record<string, unknown>, place: number): Record<string, unknown> => ({
  ...choice,
  index: choice["index"] ?? place,
  finish_reason: choice["finish_reason"] || "stop",
});

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
      choice.logprobs = part.logprobs ?? null;
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
      // An empty text is content "", unless something stands in its place.
      if (choice.content === null && choice.refusal === null && choice.toolCalls.length === 0)
        choice.content = "";
      return;
  }
}
