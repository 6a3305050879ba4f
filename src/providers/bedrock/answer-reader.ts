// Reads the events of Converse into parts (wire.md §8.2). Text, reasoning and tool blocks share one numbering. A stream
// may lack its start event, the start and end of a block, and usage. Usage may come before or after the stop event, so
// the stop is handed over only at the end.
import { isJsonObject, isPresent } from "../../domain/read-value.ts";
import { NO_ARGUMENTS } from "../../domain/tool-arguments.ts";
import type { AnswerReader, EventEnd } from "../codec.ts";
import { namelessCall } from "../call-arguments.ts";
import { Failure } from "../failure.ts";
import { readObject } from "../http/json.ts";
import { KeptBound } from "../kept-bound.ts";
import { ToolCalls } from "../openai/tool-calls.ts";
import type { FinishReason, Part } from "../provider.ts";
import { exceptionOf } from "./errors.ts";
import type { BedrockEvent } from "./event-stream.ts";
import { converseFinish, isGuarded } from "./finish-reason.ts";
import { reasoningBlockOf, FAMILY, keptReasoning, type ReasoningBlock } from "./kept-reasoning.ts";
import type { Placed } from "../thoughts-in-text.ts";
import { converseUsage } from "./usage.ts";

/** Bounds the signatures and signed text kept for one call; far above what any model sends. */
const KEPT_CHARACTERS_MAX = 4 * 1024 * 1024;
/** Bounds what is kept for all calls together. */
const GIVEN_CHARACTERS_MAX = 4 * KEPT_CHARACTERS_MAX;
const CHOICE = 0;
/** Numbers in tool arguments are passed on as the model wrote them. */
const EXACT = ["input"];

/** The model's output has begun by the time one of these events comes. */
const BEGINNINGS: ReadonlySet<string> = new Set(["contentBlockStart", "contentBlockDelta", "messageStop"]);

/** The reasoning of one block, until its signature is complete. */
interface OpenReasoning {
  index: unknown;
  text: string;
  signature: string;
  redacted: string;
}

/** The reader of one answer, streamed or whole. */
export class ConverseReader implements AnswerReader<BedrockEvent> {
  /** Reported only in a header. */
  readonly id = null;
  usageTold = false;
  began = false;
  private readonly tools = new ToolCalls(CHOICE, FAMILY);
  /** Calls in the order of their blocks, and whether each has had arguments. */
  private readonly calls = new Map<unknown, { said: boolean }>();
  private reasoning: OpenReasoning | null = null;
  private kept: Placed<ReasoningBlock>[] = [];
  private readonly bound = new KeptBound(KEPT_CHARACTERS_MAX, GIVEN_CHARACTERS_MAX);
  private textCharacters = 0;
  private reason: FinishReason | null = null;
  private guarded = false;

  /** `by`: the issuer whose reasoning a signature proves. */
  constructor(private readonly by: string) {}

  get complete(): boolean {
    return this.reason !== null;
  }

  event({ kind, type, payload }: BedrockEvent, parts: Part[]): EventEnd {
    if (kind !== "event") return exceptionOf(type, payload);
    const told = readObject(payload === "" ? "{}" : payload, "the upstream sent an event", EXACT);
    if (typeof told["contentBlockIndex"] !== "number") delete told["contentBlockIndex"]; // keep a valid index
    this.began ||= BEGINNINGS.has(type);
    switch (type) {
      case "contentBlockStart":
        this.blockStart(told, parts);
        return null;
      case "contentBlockDelta":
        this.delta(told, parts);
        return null;
      case "contentBlockStop":
        this.blockStop(told["contentBlockIndex"], parts);
        return null;
      case "messageStop":
        this.stop(told["stopReason"]);
        return this.end();
      case "metadata":
        this.usage(told, parts);
        return this.end();
      default:
        return null; // messageStart, and event types still unknown
    }
  }

  whole(text: string, parts: Part[]): void {
    const body = readObject(text, "the upstream answered 200 with something", EXACT);
    const message = isJsonObject(body["output"]) ? body["output"]["message"] : undefined;
    const content = isJsonObject(message) ? message["content"] : undefined;
    if (!Array.isArray(content))
      throw new Failure("broken", "unknown", "the upstream answered 200 without an answer");
    for (const [index, block] of content.entries()) if (isJsonObject(block)) this.block(index, block, parts);
    this.usage(body, parts);
    // A whole body needs no other proof of its end.
    this.stop(typeof body["stopReason"] === "string" ? body["stopReason"] : "end_turn");
  }

  close(parts: Part[]): void {
    for (const index of this.calls.keys()) this.endCall(index, parts);
    this.tools.close();
    if (this.reason === null) return;
    const reason = this.reason === "stop" && this.tools.any ? "tool_calls" : this.reason;
    parts.push({ type: "finish", choice: CHOICE, reason, ...(this.guarded && { guarded: true }) });
  }

  /** Reads a block of a whole answer as if it had come in deltas. */
  private block(index: number, block: Record<string, unknown>, parts: Part[]): void {
    const { text, toolUse, reasoningContent: reasoning, citationsContent: cited } = block;
    if (isJsonObject(toolUse)) {
      this.beginCall(index, toolUse, parts);
      this.argument(index, toolUse["input"], parts);
    } else if (isJsonObject(reasoning)) {
      const { reasoningText, redactedContent } = reasoning;
      this.think(index, isJsonObject(reasoningText) ? reasoningText : { redactedContent }, parts);
    } else if (isJsonObject(cited) && Array.isArray(cited["content"]))
      for (const one of cited["content"]) if (isJsonObject(one)) this.say(one["text"], parts);
    this.say(text, parts);
    this.blockStop(index, parts);
  }

  private blockStart({ contentBlockIndex: index, start }: Record<string, unknown>, parts: Part[]): void {
    if (isJsonObject(start) && isJsonObject(start["toolUse"])) this.beginCall(index, start["toolUse"], parts);
  }

  private delta({ contentBlockIndex: index, delta }: Record<string, unknown>, parts: Part[]): void {
    if (!isJsonObject(delta)) return;
    const { text, toolUse, reasoningContent: reasoning } = delta;
    if (text !== undefined) this.say(text, parts);
    else if (isJsonObject(toolUse)) this.argument(index, toolUse["input"], parts);
    else if (isJsonObject(reasoning)) this.think(index, reasoning, parts);
  }

  private say(text: unknown, parts: Part[]): void {
    if (typeof text !== "string" || text === "") return;
    this.textCharacters += text.length;
    parts.push({ type: "text", choice: CHOICE, text });
  }

  private think(index: unknown, told: Record<string, unknown>, parts: Part[]): void {
    if (this.reasoning !== null && this.reasoning.index !== index) this.keep();
    this.reasoning ??= { index, text: "", signature: "", redacted: "" };
    const open = this.reasoning;
    const { text, signature, redactedContent: redacted } = told;
    if (typeof text === "string" && text !== "") {
      open.text += this.bound.keep(text);
      parts.push({ type: "reasoning", choice: CHOICE, text });
    }
    if (typeof signature === "string") open.signature += this.bound.keep(signature);
    if (typeof redacted === "string") open.redacted += this.bound.keep(redacted);
  }

  private keep(): void {
    if (this.reasoning === null) return;
    const { text, signature, redacted } = this.reasoning;
    this.reasoning = null;
    const block = reasoningBlockOf(redacted === "" ? { text, signature } : { redacted });
    if (block !== null) this.kept.push({ block, after: this.textCharacters });
  }

  private beginCall(index: unknown, { toolUseId: id, name }: Record<string, unknown>, parts: Part[]): void {
    if (typeof name !== "string" || name === "") throw namelessCall();
    this.keep();
    const extra = this.bound.begin() ? keptReasoning(this.kept, this.by) : null;
    this.kept = [];
    this.calls.set(index, { said: false });
    const called = { index, id, function: { name }, ...(extra !== null && { extra_content: extra }) };
    this.tools.read([called], parts);
  }

  private argument(index: unknown, input: unknown, parts: Part[]): void {
    const call = this.calls.get(index);
    if (call === undefined) throw namelessCall();
    if (input === "" || !isPresent(input)) return;
    call.said = true;
    this.tools.read([{ index, function: { arguments: input } }], parts);
  }

  private blockStop(index: unknown, parts: Part[]): void {
    this.keep();
    this.endCall(index, parts);
  }

  /** Empty arguments become an empty object. */
  private endCall(index: unknown, parts: Part[]): void {
    const call = this.calls.get(index);
    if (call === undefined || call.said) return;
    this.argument(index, NO_ARGUMENTS, parts);
  }

  /** The first reason counts, unless it is `stop`: then a later one replaces it. */
  private stop(word: unknown): void {
    const reason = converseFinish(typeof word === "string" ? word : "");
    this.guarded ||= isGuarded(word);
    if ((this.reason ?? "stop") === "stop") this.reason = reason;
  }

  /** The answer is complete once both stop and usage have come, in either order. */
  private end(): EventEnd {
    return this.complete && this.usageTold ? "done" : null;
  }

  private usage({ usage, serviceTier }: Record<string, unknown>, parts: Part[]): void {
    const figures = converseUsage(usage, serviceTier);
    if (figures === null) return;
    this.usageTold = true;
    this.began ||= figures.completionTokens > 0;
    parts.push({ type: "usage", usage: figures });
  }
}
