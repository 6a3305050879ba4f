// One parsed chunk of an OpenAI-shaped stream → parts. Holds what must be remembered across chunks: tool indexes as
// they appeared, and which choices have finished (wire.md §8.2).
import { readFinishReason } from "./finish-reason.ts";
import type { Part } from "./provider.ts";
import { readReasoning, readText } from "./read-content.ts";
import { ToolCalls } from "./tool-calls.ts";
import { isObject, readUsage } from "./usage.ts";

export class ChunkReader {
  private readonly tools = new Map<number, ToolCalls>();
  private readonly finished = new Set<number>();
  /** The upstream's own id of the completion, once it said one. */
  id: string | null = null;

  constructor(private readonly choices: number) {}

  /** Every choice has had its finish. */
  get complete(): boolean {
    return this.finished.size >= this.choices;
  }

  /** The parts of one chunk, in order. Throws `Failure`. */
  read(chunk: Record<string, unknown>): Part[] {
    const parts: Part[] = [];
    if (this.id === null && typeof chunk["id"] === "string" && chunk["id"] !== "") this.id = chunk["id"];
    const choices = Array.isArray(chunk["choices"]) ? (chunk["choices"] as unknown[]) : [];
    for (const choice of choices) if (isObject(choice)) this.readChoice(choice, parts);
    const usage = readUsage(chunk["usage"]);
    if (usage !== null) parts.push({ type: "usage", usage });
    return parts;
  }

  private readChoice(choice: Record<string, unknown>, parts: Part[]): void {
    const index = typeof choice["index"] === "number" ? choice["index"] : 0;
    if (index < 0 || index >= this.choices || this.finished.has(index)) return;
    const delta = choice["delta"] ?? choice["message"];
    if (isObject(delta)) this.readDelta(index, delta, { choice, parts });
    const word = choice["finish_reason"];
    if (typeof word !== "string" || word === "") return;
    this.finished.add(index);
    const reason = readFinishReason(word);
    const called = reason === "stop" && this.tools.has(index) ? "tool_calls" : reason;
    parts.push({ type: "finish", choice: index, reason: called });
  }

  private readDelta(
    index: number,
    delta: Record<string, unknown>,
    to: { choice: Record<string, unknown>; parts: Part[] },
  ): void {
    const { choice, parts } = to;
    const reasoning = readReasoning(delta);
    if (reasoning !== "") parts.push({ type: "reasoning", choice: index, text: reasoning });
    const text = readText(delta["content"]);
    const logprobs = choice["logprobs"];
    if (text !== "")
      parts.push(
        isObject(logprobs)
          ? { type: "text", choice: index, text, logprobs }
          : { type: "text", choice: index, text },
      );
    const refusal = delta["refusal"];
    if (typeof refusal === "string" && refusal !== "")
      parts.push({ type: "refusal", choice: index, text: refusal });
    const annotations = delta["annotations"];
    if (Array.isArray(annotations) && annotations.length > 0)
      parts.push({ type: "annotations", choice: index, annotations });
    if (Array.isArray(delta["tool_calls"])) this.toolsOf(index).read(delta["tool_calls"], parts);
  }

  private toolsOf(choice: number): ToolCalls {
    let tools = this.tools.get(choice);
    if (tools === undefined) {
      tools = new ToolCalls(choice);
      this.tools.set(choice, tools);
    }
    return tools;
  }
}
