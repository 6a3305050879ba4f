// The frames of a stream in the order of wire.md §3.1. Printed here and not at the front door, because a caller's key
// keeps these exact bytes. Keyed streams number their events; fillers carry no number and are not kept.
import { printError } from "../../../domain/error-body.ts";
import type { Refusal } from "../../../domain/refusals.ts";
import { wireJson } from "../../../domain/wire-json.ts";
import type { FinishReason } from "../../../providers/provider.ts";
import { DONE_EVENT, printEvent } from "../../event-stream.ts";
import type { AnswerHead, AnswerFigures, ShownPart, StreamPrinter } from "../format.ts";
import { completionId, printUsage } from "./answer-body.ts";

export class Frames implements StreamPrinter {
  private readonly requestId: string;
  private readonly head: string;
  private readonly tail: string;
  private events = 0;

  constructor(
    head: AnswerHead,
    private readonly options: { choices: number; includeUsage: boolean; numbered: boolean },
  ) {
    this.requestId = head.requestId;
    this.head = `{"id":"${completionId(head.requestId)}","object":"chat.completion.chunk","created":${head.created},"model":${JSON.stringify(head.model)},"choices":[`;
    this.tail = options.includeUsage ? `],"usage":null}` : "]}";
  }

  /** The first frame: a role for every choice, and the receipt without cost. */
  begin(gateway: string): string {
    const delta = `{"role":"assistant","content":"","refusal":null}`;
    const choices = Array.from({ length: this.options.choices }, (_, index) => choiceOf(index, delta, null));
    return this.event(
      `${this.head}${choices.join(",")}],"gateway":${gateway}${this.options.includeUsage ? `,"usage":null` : ""}}`,
    );
  }

  /** One chunk for one part. */
  part(part: ShownPart): string {
    const logprobs = part.type === "text" && part.logprobs ? wireJson(part.logprobs) : null;
    return this.event(`${this.head}${choiceOf(part.choice, deltaOf(part), null, logprobs)}${this.tail}`);
  }

  /** A finish that is not the last one of the stream (n > 1). */
  finish(choice: number, reason: FinishReason): string {
    return this.event(`${this.head}${choiceOf(choice, "{}", reason)}${this.tail}`);
  }

  /** The last finish with the complete receipt, the usage chunk if asked for, and the terminator. */
  end(choice: number, reason: FinishReason, figures: AnswerFigures): string {
    const { gateway } = figures;
    const usage = printUsage(figures.usage);
    const finish = `${this.head}${choiceOf(choice, "{}", reason)}]`;
    if (!this.options.includeUsage)
      return this.event(`${finish},"usage":${usage},"gateway":${gateway}}`) + DONE_EVENT;
    return (
      this.event(`${finish},"usage":null,"gateway":${gateway}}`) +
      this.event(`${this.head}],"usage":${usage},"gateway":${gateway}}`) +
      DONE_EVENT
    );
  }

  /** An error after the status was sent; nothing follows it, not even the terminator (wire.md §3.3). */
  error(refusal: Refusal, gateway: string): string {
    return this.event(printError(refusal, this.requestId, gateway));
  }

  /** An empty delta for clients that time out between chunks; not numbered, not kept. */
  filler(): string {
    return `data: ${this.head}${choiceOf(0, "{}", null)}${this.tail}\n\n`;
  }

  private event(data: string): string {
    return printEvent(data, this.options.numbered ? ++this.events : null);
  }
}

const choiceOf = (
  index: number,
  delta: string,
  reason: FinishReason | null,
  logprobs: string | null = null,
): string =>
  `{"index":${index},"delta":${delta},"logprobs":${logprobs},"finish_reason":${reason === null ? "null" : `"${reason}"`}}`;

function deltaOf(part: ShownPart): string {
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
    case "native": // no upstream speaks this surface natively: its events are read, and printed anew
      return "{}";
    case "annotations":
      return `{"annotations":${wireJson(part.annotations.map((annotation, index) => ({ index, ...annotation })))}}`;
  }
}
