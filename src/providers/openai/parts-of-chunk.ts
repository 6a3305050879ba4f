// Reads the parsed chunks of an OpenAI-shaped stream into parts. Keeps across chunks: tool calls, which choices have
// finished and how, and citations (wire.md §8.2). Finishes come last, since some upstreams repeat theirs on every
// chunk, and no text after it may be lost. Citations come once, before it, since clients keep only the last list.
import { isJsonObject } from "../../domain/read-value.ts";
import { serviceTierOf } from "../../domain/token-classes.ts";
import { answerIdOf } from "../answer-id.ts";
import { numbered } from "../numbered-choices.ts";
import type { AnswerReader, EventEnd } from "../codec.ts";
import { Annotations } from "./annotations.ts";
import { readFinishReason } from "./finish-reason.ts";
import type { FinishReason, Part } from "../provider.ts";
import { HeldCalls, withExtra } from "./held-calls.ts";
import { readReasoning, readText } from "./read-content.ts";
import { ReasoningDetails } from "./reasoning-details.ts";
import { EXACT, ToolCalls } from "./tool-calls.ts";
import { readObject } from "../http/json.ts";
import { errorOf } from "./read-error.ts";
import { wholeAsChunk } from "./whole-answer.ts";
import { readUsage } from "./usage.ts";

export interface ReaderOptions {
  /** How many choices were requested; others are dropped. */
  choices: number;
  /** True if log probabilities were requested. */
  logprobs: boolean;
  /** The provider's name: the key of state that must come back to it (wire.md §8.4). */
  family: string;
  /** For an upstream that sends `reasoning_details`; absent for others. */
  details?: {
    /** Their issuer (`issuerOf`). */
    issuer: string;
    /** True if the model thinks or may: its calls are handed over at the end, since details may come after them. */
    thinks: boolean;
  };
}

/** The reader of one answer, streamed or whole. */
export class ChunkReader implements AnswerReader<string> {
  /** By choice; most answers have neither. */
  private tools: Map<number, ToolCalls> | null = null;
  private annotations: Map<number, Annotations> | null = null;
  private readonly details = new Map<number, ReasoningDetails>();
  private readonly held = new Map<number, HeldCalls>();
  private readonly finishes = new Map<number, FinishReason>();
  /** The upstream's id of the completion; null until it has sent one. */
  id: string | null = null;
  private serviceTier: string | null = null;
  /** True once the upstream has reported usage, complete or not. */
  usageTold = false;
  began = false;
  constructor(private readonly options: ReaderOptions) {}

  /** True once every choice has finished. */
  get complete(): boolean {
    return this.finishes.size >= this.options.choices;
  }

  get partly(): boolean {
    return this.finishes.size > 0;
  }

  get holdsBack(): boolean {
    return this.held.size > 0;
  }

  /** Reads one server-sent event: a chunk, an error, or the terminator. */
  event(data: string, parts: Part[]): EventEnd {
    if (data.startsWith("[DONE]")) return "done";
    if (data === "") return null;
    const chunk = readObject(data, "the upstream sent an event", EXACT);
    if (chunk["error"]) return errorOf(chunk["error"]);
    if (chunk["object"] === "error") return errorOf(chunk);
    this.read(chunk, parts);
    return null;
  }

  whole(text: string, parts: Part[]): void {
    this.read(wholeAsChunk(text), parts);
  }

  /** Appends the parts of one chunk, in order. Throws `Failure`. */
  read(chunk: Record<string, unknown>, parts: Part[]): void {
    const { id, choices } = chunk;
    this.id ??= answerIdOf(id);
    let within: unknown;
    if (Array.isArray(choices)) {
      for (const choice of numbered(choices)) {
        if (!isJsonObject(choice)) continue;
        this.readChoice(choice, parts);
        within ??= choice["usage"];
      }
    }
    const usage = chunk["usage"] ?? within ?? besides(chunk["x_groq"]);
    const tier = chunk["service_tier"];
    if (typeof tier === "string") this.serviceTier = serviceTierOf(tier);
    const figures = usage ? readUsage(usage, this.serviceTier) : null;
    if (figures === null) return;
    this.usageTold = true;
    this.began ||= figures.completionTokens > 0;
    parts.push({ type: "usage", usage: figures });
  }

  /** Appends the parts at the end of the answer. Throws `Failure` for a tool call without a name. */
  close(parts: Part[]): void {
    if (this.tools !== null) for (const tools of this.tools.values()) tools.close();
    const finished = [...this.finishes.keys()];
    if (finished.length > 1) finished.sort((a, b) => a - b);
    for (const choice of finished) {
      this.held.get(choice)?.give(this.extraOf(choice), parts);
      const reason = this.finishes.get(choice) ?? "stop";
      const annotations = this.annotations?.get(choice)?.list;
      if (annotations !== undefined && annotations.length > 0)
        parts.push({ type: "annotations", choice, annotations });
      parts.push({ type: "finish", choice, reason: this.finishOf(choice, reason) });
    }
  }

  private finishOf(choice: number, reason: FinishReason): FinishReason {
    return reason === "stop" && this.tools?.get(choice)?.any === true ? "tool_calls" : reason;
  }

  private readChoice(choice: Record<string, unknown>, parts: Part[]): void {
    const index = choice["index"] ?? 0;
    if (typeof index !== "number" || !Number.isInteger(index)) return;
    if (index < 0 || index >= this.options.choices) return;
    const delta = choice["delta"] ?? choice["message"];
    this.began ||= hasOutput(delta) || isFilled(choice["finish_reason"]);
    if (isJsonObject(delta)) this.readDelta(choice, index, delta, parts);
    const word = choice["finish_reason"];
    if (typeof word !== "string" || word === "") return;
    const reason = readFinishReason(word);
    if ((this.finishes.get(index) ?? "stop") === "stop") this.finishes.set(index, reason);
  }

  private readDelta(
    choice: Record<string, unknown>,
    index: number,
    delta: Record<string, unknown>,
    parts: Part[],
  ): void {
    const reasoning = readReasoning(delta);
    if (reasoning !== "") parts.push({ type: "reasoning", choice: index, text: reasoning });
    const text = readText(delta["content"]);
    const logprobs = this.options.logprobs ? withContent(choice["logprobs"]) : null;
    if (logprobs !== null) parts.push({ type: "text", choice: index, text, logprobs });
    else if (text !== "") parts.push({ type: "text", choice: index, text });
    const { refusal, annotations, tool_calls: calls, function_call: called } = delta;
    if (typeof refusal === "string" && refusal !== "")
      parts.push({ type: "refusal", choice: index, text: refusal });
    if (Array.isArray(annotations)) this.annotationsOf(index).read(annotations);
    if (this.options.details !== undefined && Array.isArray(delta["reasoning_details"]))
      this.detailsOf(index, this.options.details.issuer).read(delta["reasoning_details"]);
    if (Array.isArray(calls)) this.readCalls(index, calls, parts);
    else if (isJsonObject(called)) this.readCalls(index, [{ function: called }], parts);
  }

  private readCalls(choice: number, fragments: unknown[], parts: Part[]): void {
    const { details } = this.options;
    if (details === undefined) return this.toolsOf(choice).read(fragments, parts);
    const told: Part[] = [];
    this.toolsOf(choice).read(fragments, told);
    if (!details.thinks) return void parts.push(...told.map((part) => withExtra(part, this.extraOf(choice))));
    const held = this.held.get(choice) ?? new HeldCalls();
    this.held.set(choice, held);
    held.add(told);
  }

  private detailsOf(choice: number, issuer: string): ReasoningDetails {
    const details = this.details.get(choice) ?? new ReasoningDetails(issuer);
    this.details.set(choice, details);
    return details;
  }

  /** Returns what must come back with the first call. */
  private extraOf(choice: number): Record<string, unknown> | null {
    const kept = this.details.get(choice)?.kept() ?? null;
    return kept === null ? null : { [this.options.family]: kept };
  }

  private annotationsOf(choice: number): Annotations {
    this.annotations ??= new Map();
    let annotations = this.annotations.get(choice);
    if (annotations === undefined) {
      annotations = new Annotations();
      this.annotations.set(choice, annotations);
    }
    return annotations;
  }

  private toolsOf(choice: number): ToolCalls {
    this.tools ??= new Map();
    let tools = this.tools.get(choice);
    if (tools === undefined) {
      tools = new ToolCalls(choice, this.options.family);
      this.tools.set(choice, tools);
    }
    return tools;
  }
}

/** A role alone is sent before the model begins; anything else comes from the model, whether known here or not. */
const hasOutput = (delta: unknown): boolean =>
  isJsonObject(delta) && Object.entries(delta).some(([name, value]) => name !== "role" && isFilled(value));

const isFilled = (value: unknown): boolean =>
  typeof value === "object" && value !== null ? Object.keys(value).length > 0 : Boolean(value);

/** Groq once reported its usage only here. */
const besides = (extension: unknown): unknown => (isJsonObject(extension) ? extension["usage"] : null);

/** Returns log probabilities that are not empty: the role chunk carries an empty list. */
function withContent(logprobs: unknown): object | null {
  if (!isJsonObject(logprobs)) return null;
  const lists = [logprobs["content"], logprobs["refusal"]];
  return lists.some((list) => Array.isArray(list) && list.length > 0) ? logprobs : null;
}
