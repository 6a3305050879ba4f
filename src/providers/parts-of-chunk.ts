// One parsed chunk of an OpenAI-shaped stream → parts. Keeps what must be remembered across chunks: tool calls, which
// choices have finished and how, and the latest usage (wire.md §8.2). Finishes come last: some upstreams repeat theirs
// on every chunk, and no text may be lost behind it.
import { readFinishReason } from "./finish-reason.ts";
import type { FinishReason, Part, ProviderUsage } from "./provider.ts";
import { readReasoning, readText } from "./read-content.ts";
import { ToolCalls } from "./tool-calls.ts";
import { isObject, readUsage } from "./usage.ts";

export interface ReaderOptions {
  /** How many choices were asked for; others are dropped. */
  choices: number;
  /** Whether log probabilities were asked for. */
  logprobs: boolean;
  /** The provider's name: the key of state that must come back to it (wire.md §8.4). */
  family: string;
}

const ID_CHARACTERS_MAX = 200;

export class ChunkReader {
  private readonly tools = new Map<number, ToolCalls>();
  private readonly finishes = new Map<number, FinishReason>();
  private usage: ProviderUsage | null = null;
  /** The upstream's own id of the completion, once it said one. */
  id: string | null = null;
  /** Something of the answer was handed over. */
  started = false;

  constructor(private readonly options: ReaderOptions) {}

  /** Every choice has had its finish. */
  get complete(): boolean {
    return this.finishes.size >= this.options.choices;
  }

  /** Appends the parts of one chunk, in order. Throws `Failure`. */
  read(chunk: Record<string, unknown>, parts: Part[]): void {
    const { id, choices } = chunk;
    if (this.id === null && typeof id === "string" && id !== "") this.id = id.slice(0, ID_CHARACTERS_MAX);
    let within: unknown;
    if (Array.isArray(choices)) {
      for (const choice of choices as unknown[]) {
        if (!isObject(choice)) continue;
        this.readChoice(choice, parts);
        within ??= choice["usage"];
      }
    }
    const usage = chunk["usage"] ?? within ?? besides(chunk["x_groq"]);
    if (usage) this.usage = readUsage(usage) ?? this.usage;
  }

  /** Appends the latest usage, if there is news and the answer has begun: usage alone is no first part. */
  addUsage(parts: Part[]): void {
    if (parts.length > 0) this.started = true;
    if (this.usage === null || !this.started) return;
    parts.push({ type: "usage", usage: this.usage });
    this.usage = null;
  }

  /** Appends what stands at the end of the answer. Throws `Failure` for a tool call without a name. */
  close(parts: Part[]): void {
    for (const tools of this.tools.values()) tools.close();
    for (const [choice, reason] of [...this.finishes].toSorted(([a], [b]) => a - b))
      parts.push({ type: "finish", choice, reason: this.finishOf(choice, reason) });
    this.addUsage(parts);
  }

  private finishOf(choice: number, reason: FinishReason): FinishReason {
    return reason === "stop" && this.tools.get(choice)?.any === true ? "tool_calls" : reason;
  }

  private readChoice(choice: Record<string, unknown>, parts: Part[]): void {
    const index = choice["index"] ?? 0;
    if (typeof index !== "number" || !Number.isInteger(index)) return;
    if (index < 0 || index >= this.options.choices) return;
    const delta = choice["delta"] ?? choice["message"];
    if (isObject(delta)) this.readDelta(index, delta, { choice, parts });
    const word = choice["finish_reason"];
    if (typeof word !== "string" || word === "") return;
    const reason = readFinishReason(word);
    if ((this.finishes.get(index) ?? "stop") === "stop") this.finishes.set(index, reason);
  }

  private readDelta(
    index: number,
    delta: Record<string, unknown>,
    { choice, parts }: { choice: Record<string, unknown>; parts: Part[] },
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
    if (Array.isArray(annotations) && annotations.length > 0)
      parts.push({ type: "annotations", choice: index, annotations });
    if (Array.isArray(calls)) this.toolsOf(index).read(calls, parts);
    else if (isObject(called)) this.toolsOf(index).read([{ function: called }], parts);
  }

  private toolsOf(choice: number): ToolCalls {
    let tools = this.tools.get(choice);
    if (tools === undefined) {
      tools = new ToolCalls(choice, this.options.family);
      this.tools.set(choice, tools);
    }
    return tools;
  }
}

/** Groq once told its usage here only. */
const besides = (extension: unknown): unknown => (isObject(extension) ? extension["usage"] : null);

/** Log probabilities that say something: the role chunk carries an empty list. */
function withContent(logprobs: unknown): object | null {
  if (!isObject(logprobs)) return null;
  const lists = [logprobs["content"], logprobs["refusal"]];
  return lists.some((list) => Array.isArray(list) && list.length > 0) ? logprobs : null;
}
