// Reads Gemini's answers into parts (wire.md §8.2): a stream of whole objects, or one object. Keeps calls, finishes
// and citations across them. Finishes come last, since text may follow in the object of another choice.
import { isJsonObject } from "../../domain/read-value.ts";
import { answerIdOf } from "../answer-id.ts";
import { numbered } from "../numbered-choices.ts";
import type { AnswerReader, EventEnd } from "../codec.ts";
import { Failure } from "../failure.ts";
import { readJson, readObject } from "../http/json.ts";
import { Annotations } from "../openai/annotations.ts";
import type { FinishReason, Part } from "../provider.ts";
import { groundingAnnotations, searchesOf } from "./citations.ts";
import { geminiError } from "./errors.ts";
import { geminiFinish } from "./finish-reason.ts";
import { FunctionCalls } from "./function-calls.ts";
import { geminiLogprobs } from "./logprobs.ts";
import { geminiUsage } from "./usage.ts";

export interface GeminiReaderOptions {
  /** How many choices were requested; others are dropped. */
  choices: number;
  /** How many alternatives of each token were requested; null: no log probabilities at all. */
  topLogprobs: number | null;
  /** The issuer of the signatures. */
  issuer: () => string;
}

/** Numbers in these are passed on as they were written. */
const EXACT = ["args", "partialArgs"];
const BEYOND_ASCII = /[\u0080-\uffff]/;

/** The state of one choice. */
interface Choice {
  calls: FunctionCalls;
  annotations: Annotations | null;
  /** True while all of the text is ASCII, so that every character is one byte. */
  ascii: boolean;
  finish: FinishReason | null;
}

/** The reader of one answer, streamed or whole. */
export class GeminiReader implements AnswerReader<string> {
  private readonly choices = new Map<number, Choice>();
  private finished = 0;
  private searches: number | null = null;
  id: string | null = null;
  usageTold = false;
  began = false;

  constructor(private readonly options: GeminiReaderOptions) {}

  get complete(): boolean {
    return this.finished >= this.options.choices;
  }

  get partly(): boolean {
    return this.finished > 0;
  }

  event(data: string, parts: Part[]): EventEnd {
    if (data === "") return null;
    if (data.startsWith("[")) return endOf(data);
    const body = readObject(data, "the upstream sent an event", EXACT);
    if (body["error"]) return geminiError(body["error"]);
    this.read(body, parts);
    return null;
  }

  whole(text: string, parts: Part[]): void {
    const body = readObject(text, "the upstream answered 200 with something", EXACT);
    if (body["error"]) throw new Failure("broken", "unknown", "the upstream answered 200 with an error body");
    this.read(body, parts);
    // A whole body needs no other proof of its end.
    for (const choice of this.choices.values()) this.finish(choice, choice.finish ?? "stop");
  }

  close(parts: Part[]): void {
    for (const [index, choice] of [...this.choices].toSorted(([a], [b]) => a - b)) {
      if (choice.finish === null) continue;
      if (choice.finish !== "length") choice.calls.end(parts);
      const annotations = choice.annotations?.list ?? [];
      if (annotations.length > 0) parts.push({ type: "annotations", choice: index, annotations });
      const reason = choice.finish === "stop" && choice.calls.any ? "tool_calls" : choice.finish;
      parts.push({ type: "finish", choice: index, reason });
    }
  }

  private read(body: Record<string, unknown>, parts: Part[]): void {
    const { responseId, candidates, promptFeedback, usageMetadata } = body;
    this.id ??= answerIdOf(responseId);
    if (Array.isArray(candidates)) {
      for (const candidate of numbered(candidates))
        if (isJsonObject(candidate)) this.readCandidate(candidate, parts);
    }
    if (isJsonObject(promptFeedback) && typeof promptFeedback["blockReason"] === "string") this.blocked();
    const usage = usageMetadata === undefined ? null : geminiUsage(usageMetadata, this.searches);
    if (usage === null) return;
    this.usageTold = true;
    this.began ||= usage.completionTokens > 0;
    parts.push({ type: "usage", usage });
  }

  /** The prompt was blocked: there are no candidates, and every choice ends this way. */
  private blocked(): void {
    for (let index = 0; index < this.options.choices; index += 1)
      this.finish(this.choiceOf(index), "content_filter");
  }

  private readCandidate(candidate: Record<string, unknown>, parts: Part[]): void {
    const { index = 0, content, finishReason, groundingMetadata } = candidate;
    if (typeof index !== "number" || !Number.isInteger(index)) return;
    if (index < 0 || index >= this.options.choices) return;
    const choice = this.choiceOf(index);
    const before = parts.length;
    if (isJsonObject(content) && Array.isArray(content["parts"])) {
      this.began ||= content["parts"].some(isSaid);
      for (const part of content["parts"] as unknown[])
        if (isJsonObject(part)) readPart(part, { index, choice, parts });
    }
    this.readLogprobs(candidate["logprobsResult"], { index, parts, before });
    if (isJsonObject(groundingMetadata)) {
      choice.annotations ??= new Annotations();
      choice.annotations.read(groundingAnnotations(groundingMetadata, choice.ascii));
      this.searches = searchesOf(groundingMetadata) ?? this.searches;
    }
    if (typeof finishReason !== "string" || finishReason === "") return;
    this.began = true;
    this.finish(choice, geminiFinish(finishReason));
  }

  /**
   * Log probabilities are added to the text that they belong to, or to an empty one. Those of thoughts and calls are
   * dropped.
   */
  private readLogprobs(
    result: unknown,
    { index, parts, before }: { index: number; parts: Part[]; before: number },
  ): void {
    const { topLogprobs: top } = this.options;
    const logprobs = top === null || result === undefined ? null : geminiLogprobs(result, top);
    if (logprobs === null) return;
    const text = parts.findLast((part, at) => at >= before && part.type === "text");
    if (text?.type === "text") text.logprobs = logprobs;
    else if (parts.length === before) parts.push({ type: "text", choice: index, text: "", logprobs });
  }

  /** The first reason other than `stop` counts: some upstreams repeat theirs. */
  private finish(choice: Choice, reason: FinishReason): void {
    if (choice.finish === null) this.finished += 1;
    if (choice.finish === null || choice.finish === "stop") choice.finish = reason;
  }

  private choiceOf(index: number): Choice {
    let choice = this.choices.get(index);
    if (choice === undefined) {
      const calls = new FunctionCalls(index, this.options.issuer);
      choice = { calls, annotations: null, ascii: true, finish: null };
      this.choices.set(index, choice);
    }
    return choice;
  }
}

/** True if the part has content: an empty text has none, but a signature beside it counts. */
const isSaid = (part: unknown): boolean =>
  isJsonObject(part) && Object.entries(part).some(([name, value]) => name !== "thought" && value !== "");

/** Images, code and its results have no place in a chat completion, and are dropped. */
function readPart(
  part: Record<string, unknown>,
  { index, choice, parts }: { index: number; choice: Choice; parts: Part[] },
): void {
  const { text, functionCall } = part;
  if (typeof text === "string" && text !== "") {
    if (part["thought"] === true) parts.push({ type: "reasoning", choice: index, text });
    else {
      choice.ascii &&= !BEYOND_ASCII.test(text);
      parts.push({ type: "text", choice: index, text });
    }
  }
  if (isJsonObject(functionCall)) choice.calls.read(functionCall, part["thoughtSignature"], parts);
}

/** The terminator that proxies add, or an error in a list, as streams without `alt=sse` report it. */
function endOf(data: string): EventEnd {
  if (data.startsWith("[DONE]")) return "done";
  const list = readJson(data);
  const first: unknown = Array.isArray(list) ? list[0] : null;
  if (isJsonObject(first) && isJsonObject(first["error"])) return geminiError(first["error"]);
  throw new Failure("broken", "unknown", "the upstream sent an event that is not an object");
}
