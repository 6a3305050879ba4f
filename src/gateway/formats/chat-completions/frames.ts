// The frames of a stream in the order of wire.md §3.1, for the surfaces that share it; what a choice says differs by surface
// (`FrameWords`). Printed here and not at the front door, because these exact bytes are stored under a caller's key. Keyed streams
// number their events; fillers have no number and are not stored.
import { printError } from "../../../domain/error-body.ts";
import type { Refusal } from "../../../domain/refusals.ts";
import { NO_ARGUMENTS } from "../../../domain/tool-arguments.ts";
import type { FinishReason } from "../../../providers/provider.ts";
import { DONE_EVENT, printEvent } from "../../event-stream.ts";
import type { AnswerHead, AnswerFigures, ShownPart, StreamPrinter } from "../format.ts";
import { isCut, printUsage } from "./answer-body.ts";

/** What differs between the surfaces' chunks. All of it is JSON text. */
export interface FrameWords {
  /** A chunk up to the list of its choices. */
  head(head: AnswerHead): string;
  /** A choice in the first chunk. */
  opening(choice: number): string;
  /** A choice with this part. */
  part(part: ShownPart): string;
  /** The end of a choice; null: a choice with nothing to say. */
  finish(choice: number, reason: FinishReason | null): string;
}

/** The calls of a choice. */
interface Calls {
  /** Calls that began and have no arguments so far. */
  readonly silent: Set<number>;
  /** The index of the call that began last. */
  last: number;
}

/** Prints one stream. `words` holds what differs by surface; the order is the same. */
export class Frames implements StreamPrinter {
  private readonly requestId: string;
  private readonly head: string;
  private readonly tail: string;
  private events = 0;
  /** By choice. */
  private readonly calls = new Map<number, Calls>();

  constructor(
    private readonly words: FrameWords,
    head: AnswerHead,
    private readonly options: { choices: number; includeUsage: boolean; numbered: boolean },
  ) {
    this.requestId = head.requestId;
    this.head = `${words.head(head)}[`;
    this.tail = options.includeUsage ? `],"usage":null}` : "]}";
  }

  /** The first frame: every choice, and the receipt without cost. */
  begin(gateway: string): string {
    const choices = Array.from({ length: this.options.choices }, (_, index) => this.words.opening(index));
    return this.event(
      `${this.head}${choices.join(",")}],"gateway":${gateway}${this.options.includeUsage ? `,"usage":null` : ""}}`,
    );
  }

  /** One chunk for one part. */
  part(part: ShownPart): string {
    if (part.type === "tool_call") this.called(part.choice, part.index);
    else if (part.type === "tool_arguments" && part.text !== "")
      this.calls.get(part.choice)?.silent.delete(part.index);
    return this.event(`${this.head}${this.words.part(part)}${this.tail}`);
  }

  /** The finish of a choice that is not the last one of the stream (n > 1). */
  finish(choice: number, reason: FinishReason): string {
    const calls = this.wholeCalls(choice, reason);
    return calls + this.event(`${this.head}${this.words.finish(choice, reason)}${this.tail}`);
  }

  /** The last finish with the complete receipt, the usage chunk if requested, and the terminator. */
  end(choice: number, reason: FinishReason, figures: AnswerFigures): string {
    const { gateway } = figures;
    const usage = printUsage(figures.usage);
    const calls = this.wholeCalls(choice, reason);
    const finish = `${this.head}${this.words.finish(choice, reason)}]`;
    if (!this.options.includeUsage)
      return calls + this.event(`${finish},"usage":${usage},"gateway":${gateway}}`) + DONE_EVENT;
    return (
      calls +
      this.event(`${finish},"usage":null,"gateway":${gateway}}`) +
      this.event(`${this.head}],"usage":${usage},"gateway":${gateway}}`) +
      DONE_EVENT
    );
  }

  /** An error after the status was sent; nothing follows it, not even the terminator (wire.md §3.3). */
  error(refusal: Refusal, gateway: string): string {
    return this.event(printError(refusal, this.requestId, gateway));
  }

  /** A chunk without content, for clients that time out between chunks; not numbered, not stored. */
  filler(): string {
    return `data: ${this.head}${this.words.finish(0, null)}${this.tail}\n\n`;
  }

  private called(choice: number, index: number): void {
    const calls = this.calls.get(choice) ?? { silent: new Set(), last: index };
    calls.silent.add(index);
    calls.last = index;
    this.calls.set(choice, calls);
  }

  /** `{}` for each call of this choice without arguments, because clients parse them; a last call that was cut stays as it is. */
  private wholeCalls(choice: number, reason: FinishReason): string {
    const { silent = [], last } = this.calls.get(choice) ?? {};
    let frames = "";
    for (const index of silent)
      if (!(index === last && isCut(reason)))
        frames += this.part({ type: "tool_arguments", choice, index, text: NO_ARGUMENTS });
    return frames;
  }

  private event(data: string): string {
    return printEvent(data, this.options.numbered ? ++this.events : null);
  }
}
