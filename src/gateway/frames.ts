// The frames of a stream in the order of wire.md §3.1. Printed here and not at the front door, because a caller's key
// keeps these exact bytes. Keyed streams number their events; fillers carry no number and are not kept.
import { wireJson } from "../contract/wire-json.ts";
import type { FinishReason, Part } from "../providers/provider.ts";
import type { AnswerHead } from "./answer-body.ts";

/** Parts that become a chunk of their own; usage and the held-back finish travel with the receipt. */
type Shown = Exclude<Part, { type: "usage" | "finish" | "annotations" }>;

export const EVENT_STREAM = "text/event-stream; charset=utf-8";
export const DONE = "data: [DONE]\n\n";
export const KEEP_ALIVE = ": keep-alive\n\n";

export class Frames {
  private readonly head: string;
  private readonly tail: string;
  private events = 0;

  constructor(
    head: AnswerHead,
    private readonly options: { choices: number; includeUsage: boolean; numbered: boolean },
  ) {
    this.head = `{"id":"${head.id}","object":"chat.completion.chunk","created":${head.created},"model":${JSON.stringify(head.model)},"choices":[`;
    this.tail = options.includeUsage ? `],"usage":null}` : "]}";
  }

  /** The first frame: a role for every choice, and the receipt without cost. */
  role(gateway: string): string {
    const delta = `{"role":"assistant","content":"","refusal":null}`;
    const choices = Array.from({ length: this.options.choices }, (_, index) => choiceOf(index, delta, null));
    return this.event(
      `${this.head}${choices.join(",")}],"gateway":${gateway}${this.options.includeUsage ? `,"usage":null` : ""}}`,
    );
  }

  /** One chunk for one part. */
  part(part: Shown): string {
    const logprobs = part.type === "text" && part.logprobs ? wireJson(part.logprobs) : null;
    return this.event(`${this.head}${choiceOf(part.choice, deltaOf(part), null, logprobs)}${this.tail}`);
  }

  /** A finish that is not the last one of the stream (n > 1). */
  earlyFinish(choice: number, reason: FinishReason): string {
    return this.event(`${this.head}${choiceOf(choice, "{}", reason)}${this.tail}`);
  }

  /** The last finish with the complete receipt, the usage chunk if asked for, and the terminator. */
  end(choice: number, reason: FinishReason, figures: { usage: string; gateway: string }): string {
    const { usage, gateway } = figures;
    const finish = `${this.head}${choiceOf(choice, "{}", reason)}]`;
    if (!this.options.includeUsage)
      return this.event(`${finish},"usage":${usage},"gateway":${gateway}}`) + DONE;
    return (
      this.event(`${finish},"usage":null,"gateway":${gateway}}`) +
      this.event(`${this.head}],"usage":${usage},"gateway":${gateway}}`) +
      DONE
    );
  }

  /** An error after the status was sent; nothing follows it, not even the terminator (wire.md §3.3). */
  error(body: string): string {
    return this.event(body);
  }

  /** An empty delta for clients that time out between chunks; not numbered, not kept. */
  filler(): string {
    return `data: ${this.head}${choiceOf(0, "{}", null)}${this.tail}\n\n`;
  }

  private event(data: string): string {
    return this.options.numbered ? `id: ${++this.events}\ndata: ${data}\n\n` : `data: ${data}\n\n`;
  }
}

const choiceOf = (
  index: number,
  delta: string,
  reason: FinishReason | null,
  logprobs: string | null = null,
): string =>
  `{"index":${index},"delta":${delta},"logprobs":${logprobs},"finish_reason":${reason === null ? "null" : `"${reason}"`}}`;

function deltaOf(part: Shown): string {
  switch (part.type) {
    case "text":
      return `{"content":${wireJson(part.text)}}`;
    case "refusal":
      return `{"refusal":${wireJson(part.text)}}`;
    case "reasoning":
      return `{"reasoning_content":${wireJson(part.text)}}`;
    case "tool_call":
      return `{"tool_calls":[${wireJson({
        index: part.index,
        id: part.id,
        type: "function",
        function: { name: part.name, arguments: "" },
        ...(part.extraContent ? { extra_content: part.extraContent } : {}),
      })}]}`;
    case "tool_arguments":
      return `{"tool_calls":[{"index":${part.index},"function":{"arguments":${wireJson(part.text)}}}]}`;
  }
}
