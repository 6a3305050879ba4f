// The chunks of a streamed text completion: the order of chat completions (wire.md §3.1), in the words of this surface.
import { printError } from "../../../domain/error-body.ts";
import type { Refusal } from "../../../domain/refusals.ts";
import { wireJson } from "../../../domain/wire-json.ts";
import type { FinishReason } from "../../../providers/provider.ts";
import { printUsage } from "../chat-completions/answer-body.ts";
import { DONE_EVENT, printEvent } from "../../event-stream.ts";
import type { AnswerFigures, AnswerHead, ShownPart, StreamPrinter } from "../format.ts";
import { finishReasonOf, printHead } from "./answer-body.ts";

export class Chunks implements StreamPrinter {
  private readonly requestId: string;
  private readonly head: string;
  private readonly tail: string;
  private events = 0;

  constructor(
    head: AnswerHead,
    private readonly options: { choices: number; includeUsage: boolean; numbered: boolean },
  ) {
    this.requestId = head.requestId;
    this.head = `${printHead(head)}[`;
    this.tail = options.includeUsage ? `],"usage":null}` : "]}";
  }

  /** An empty text for every choice, and the receipt without cost. */
  begin(gateway: string): string {
    const choices = Array.from({ length: this.options.choices }, (_, index) => choiceOf(index, EMPTY, null));
    const usage = this.options.includeUsage ? `,"usage":null` : "";
    return this.event(`${this.head}${choices.join(",")}],"gateway":${gateway}${usage}}`);
  }

  /** One chunk for one part. */
  part(part: ShownPart): string {
    return this.event(`${this.head}${choiceOf(part.choice, said(part), null)}${this.tail}`);
  }

  /** A finish that is not the last one of the stream (n > 1). */
  finish(choice: number, reason: FinishReason): string {
    return this.event(`${this.head}${choiceOf(choice, EMPTY, reason)}${this.tail}`);
  }

  /** The last finish with the complete receipt, the usage chunk if asked for, and the terminator. */
  end(choice: number, reason: FinishReason, figures: AnswerFigures): string {
    const { gateway } = figures;
    const usage = printUsage(figures.usage);
    const finish = `${this.head}${choiceOf(choice, EMPTY, reason)}]`;
    if (!this.options.includeUsage)
      return this.event(`${finish},"usage":${usage},"gateway":${gateway}}`) + DONE_EVENT;
    return (
      this.event(`${finish},"usage":null,"gateway":${gateway}}`) +
      this.event(`${this.head}],"usage":${usage},"gateway":${gateway}}`) +
      DONE_EVENT
    );
  }

  /** Nothing follows an error, not even the terminator. */
  error(refusal: Refusal, gateway: string): string {
    return this.event(printError(refusal, this.requestId, gateway));
  }

  filler(): string {
    return `data: ${this.head}${choiceOf(0, EMPTY, null)}${this.tail}\n\n`;
  }

  private event(data: string): string {
    return printEvent(data, this.options.numbered ? ++this.events : null);
  }
}

const EMPTY = `"text":""`;

const choiceOf = (index: number, text: string, reason: FinishReason | null): string =>
  `{${text},"index":${index},"logprobs":null,"finish_reason":${reason === null ? "null" : `"${finishReasonOf(reason)}"`}}`;

/** Tools and their calls cannot be asked for here, and searches have no place in a text. */
function said(part: ShownPart): string {
  if (part.type === "text" || part.type === "refusal") return `"text":${wireJson(part.text)}`;
  return part.type === "reasoning" ? `${EMPTY},"reasoning_content":${wireJson(part.text)}` : EMPTY;
}
