// The events of a Responses stream, printed from what any upstream says (surfaces.md §2). Whatever ends a stream, the items that it opened
// are closed first.
import type { Refusal } from "../../../domain/refusals.ts";
import { KEEP_ALIVE } from "../../event-stream.ts";
import type { FinishReason } from "../../../providers/provider.ts";
import type { AnswerFigures, AnswerHead, ShownPart, StreamPrinter } from "../format.ts";
import { EventLine } from "./event-line.ts";
import type { ParsedResponseRequest } from "./parse-response-request.ts";
import {
  CallItem,
  type ItemStatus,
  MessageItem,
  type OutputItem,
  printLogprobs,
  ThoughtItem,
} from "./output-items.ts";
import { printFailure } from "./response-errors.ts";
import { itemId, printResponseUsage, REASONS, ResponseHead } from "./response-object.ts";

type Of<T extends ShownPart["type"]> = Extract<ShownPart, { type: T }>;

export class ResponseEvents implements StreamPrinter {
  private readonly line: EventLine;
  private readonly head: ResponseHead;
  private readonly items: OutputItem[] = [];
  /** By the index of the call. */
  private readonly calls = new Map<number, CallItem>();
  /** What is being said; calls stay open beside it, as their arguments may come in turns. */
  private speaking: MessageItem | ThoughtItem | null = null;
  /** The receipt without cost, until the first word. */
  private opening: string | null = null;
  private begun = false;

  constructor(
    private readonly answer: AnswerHead,
    private readonly asked: ParsedResponseRequest,
    numbered: boolean,
  ) {
    this.line = new EventLine(numbered);
    this.head = new ResponseHead(answer, asked.body);
  }

  begin(gateway: string): string {
    this.opening = gateway;
    return "";
  }

  part(part: ShownPart): string {
    return this.open() + this.say(part);
  }

  /** There is one choice. */
  finish(): string {
    return "";
  }

  end(_choice: number, reason: FinishReason, figures: AnswerFigures): string {
    const cut = REASONS[reason];
    const events = this.open() + this.closeAll(cut === undefined ? "completed" : "incomplete");
    const told = {
      output: this.output(),
      usage: printResponseUsage(figures.usage),
      gateway: figures.gateway,
    };
    const response =
      cut === undefined
        ? this.head.print({ ...told, status: "completed" })
        : this.head.print({ ...told, status: "incomplete", reason: cut });
    const name = cut === undefined ? "response.completed" : "response.incomplete";
    return events + this.line.print(name, `"response":${response}`);
  }

  error(refusal: Refusal, gateway: string): string {
    this.opening ??= gateway;
    const events = this.open() + this.closeAll("incomplete");
    const told = { output: this.output(), usage: "null", gateway, error: printFailure(refusal) };
    return (
      events +
      this.line.print("response.failed", `"response":${this.head.print({ ...told, status: "failed" })}`)
    );
  }

  filler(): string {
    return KEEP_ALIVE;
  }

  private open(): string {
    if (this.begun) return "";
    this.begun = true;
    const told = {
      status: "in_progress",
      output: "",
      usage: "null",
      gateway: this.opening ?? "null",
    } as const;
    const response = `"response":${this.head.print(told)}`;
    return this.line.print("response.created", response) + this.line.print("response.in_progress", response);
  }

  private say(part: ShownPart): string {
    switch (part.type) {
      case "text":
        return this.speak(part.text, "output_text", printLogprobs(part.logprobs));
      case "refusal":
        return this.speak(part.text, "refusal", "");
      case "reasoning":
        return this.think(part.text);
      case "tool_call":
        return this.call(part);
      case "tool_arguments":
        return this.calls.get(part.index)?.say(this.line, part.text) ?? "";
      case "annotations":
        return this.speaking instanceof MessageItem
          ? this.speaking.annotate(this.line, part.annotations)
          : "";
      case "native":
        return "";
    }
  }

  private speak(text: string, kind: "output_text" | "refusal", logprobs: string): string {
    let events = "";
    if (!(this.speaking instanceof MessageItem)) {
      events = this.closeSpeaking("completed");
      this.speaking = this.add(new MessageItem(this.place("msg")));
      events += this.speaking.open(this.line);
    }
    return events + this.speaking.say(this.line, kind, { text, logprobs });
  }

  private think(text: string): string {
    let events = "";
    if (!(this.speaking instanceof ThoughtItem)) {
      events = this.closeSpeaking("completed");
      this.speaking = this.add(new ThoughtItem(this.place("rs")));
      events += this.speaking.open(this.line);
    }
    return events + this.speaking.say(this.line, text);
  }

  /** What must come back with a call is sealed into the thought in front of it. */
  private call({ id, name, index, extraContent: extra }: Of<"tool_call">): string {
    let events = "";
    if (extra !== undefined) {
      if (!(this.speaking instanceof ThoughtItem)) {
        events = this.closeSpeaking("completed");
        this.speaking = this.add(new ThoughtItem(this.place("rs")));
        events += this.speaking.open(this.line);
      }
      this.speaking.carry({ call: id, extra });
    }
    events += this.closeSpeaking("completed");
    const tool = this.asked.offered.byHeard.get(name) ?? { kind: "function", name, namespace: null };
    const prefix = tool.kind === "custom" ? "ctc" : "fc";
    const item = this.add(new CallItem({ ...this.place(prefix), callId: id, tool }));
    this.calls.set(index, item);
    return events + item.open(this.line);
  }

  private place(prefix: string): { id: string; index: number } {
    const index = this.items.length;
    return { id: itemId(this.answer.requestId, prefix, index), index };
  }

  private add<Item extends OutputItem>(item: Item): Item {
    this.items.push(item);
    return item;
  }

  private closeSpeaking(status: ItemStatus): string {
    const events = this.speaking?.close(this.line, status) ?? "";
    this.speaking = null;
    return events;
  }

  /** In the order of the output; of what was cut, only the last call, or the last words, had not ended. */
  private closeAll(status: ItemStatus): string {
    let events = "";
    const last = [...this.calls.values()].at(-1) ?? this.items.at(-1);
    for (const item of this.items)
      if (item.whole === null) events += item.close(this.line, item === last ? status : "completed");
    this.speaking = null;
    return events;
  }

  private output(): string {
    return this.items.map(({ whole }) => whole).join(",");
  }
}
