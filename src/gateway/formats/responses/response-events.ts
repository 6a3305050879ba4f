// The events of a Responses stream (surfaces.md §2). Those of an upstream that speaks this shape are passed on as they arrive, the
// last one after the settlement; for any other upstream they are made from its parts. However a stream ends, the items that it
// opened are closed first.
import type { JsonObject } from "../../../domain/read-value.ts";
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
import { NativeStream } from "./native-stream.ts";
import { printNativeResponse, responseIn } from "./native-response.ts";
import { type ResponseEnd, itemId, printResponseUsage, REASONS, ResponseHead } from "./response-object.ts";

/** Events with the response before it has an answer. */
const BEGINNINGS = new Set(["response.created", "response.queued", "response.in_progress"]);
const ENDS = new Set(["response.completed", "response.incomplete"]);

type Of<T extends ShownPart["type"]> = Extract<ShownPart, { type: T }>;

export class ResponseEvents implements StreamPrinter {
  private readonly line: EventLine;
  private readonly head: ResponseHead;
  private readonly items: OutputItem[] = [];
  /** By the index of the call. */
  private readonly calls = new Map<number, CallItem>();
  /** The message or reasoning item in progress; calls stay open beside it, as their arguments may arrive in turns. */
  private speaking: MessageItem | ThoughtItem | null = null;
  /** The receipt without cost, until the first event. */
  private opening: string | null = null;
  private begun = false;
  /** Set once the upstream sends its own events. */
  private theirs: NativeStream | null = null;

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
    if (part.type === "native") return this.native(part);
    return this.theirs === null ? this.open() + this.say(part) : "";
  }

  /** There is one choice. */
  finish(): string {
    return "";
  }

  end(_choice: number, reason: FinishReason, { usage, gateway }: AnswerFigures): string {
    const cut = REASONS[reason];
    const figures = { usage: printResponseUsage(usage), gateway };
    return this.close(
      cut === undefined ? { status: "completed" } : { status: "incomplete", reason: cut },
      figures,
    );
  }

  error(refusal: Refusal, gateway: string): string {
    this.opening ??= gateway;
    if (this.theirs !== null) this.theirs.last = null;
    return this.close({ status: "failed", error: printFailure(refusal) }, { usage: "null", gateway });
  }

  private close(ended: ResponseEnd, figures: { usage: string; gateway: string }): string {
    const status = ended.status === "completed" ? "completed" : "incomplete";
    const { theirs } = this;
    const last = theirs?.last ?? null;
    const events = this.open() + (theirs === null ? this.closeAll(status) : theirs.close(this.line, status));
    const name = `response.${last === null ? ended.status : String(last.status)}`;
    const response =
      theirs === null
        ? this.head.print({ ...ended, ...figures, output: this.output() })
        : this.printTheirs(theirs.ended(ended), figures);
    return events + this.line.print(name, `"response":${response}`);
  }

  private printTheirs(told: JsonObject, figures: { usage: string; gateway: string }): string {
    return printNativeResponse(told, { head: this.answer, body: this.asked.body }, figures);
  }

  /** An upstream's own event. */
  private native(native: Of<"native">): string {
    this.theirs ??= new NativeStream(this.answer.requestId);
    const { theirs } = this;
    const { event, data, told } = native;
    if (theirs.repeats.has(data)) return "";
    if (BEGINNINGS.has(event)) return this.beginning(event, responseIn(told), theirs);
    if (ENDS.has(event)) {
      const response = responseIn(told);
      theirs.last = { ...response, status: response.status === "incomplete" ? "incomplete" : "completed" };
      return "";
    }
    return this.open() + theirs.output.pass(native, this.line);
  }

  /** Sent once each, and never late: if the upstream began in the middle, its beginning is printed here. */
  private beginning(event: string, told: JsonObject, theirs: NativeStream): string {
    const first = event === "response.created";
    if (first ? this.begun : theirs.said.has(event)) return "";
    theirs.told = { ...told, output: [] };
    theirs.said.add(event);
    if (!first && !this.begun) return this.open();
    this.begun = true;
    const figures = { usage: "null", gateway: this.opening ?? "null" };
    return this.line.print(event, `"response":${this.printTheirs(theirs.told, figures)}`);
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
      events = this.closeSpeaking();
      this.speaking = this.add(new MessageItem(this.place("msg")));
      events += this.speaking.open(this.line);
    }
    return events + this.speaking.say(this.line, kind, { text, logprobs });
  }

  private think(text: string): string {
    let events = "";
    if (!(this.speaking instanceof ThoughtItem)) {
      events = this.closeSpeaking();
      this.speaking = this.add(new ThoughtItem(this.place("rs")));
      events += this.speaking.open(this.line);
    }
    return events + this.speaking.say(this.line, text);
  }

  /** State that must come back with a call is sealed into the reasoning item in front of it. */
  private call({ id, name, index, extraContent: extra }: Of<"tool_call">): string {
    let events = "";
    if (extra !== undefined) {
      if (!(this.speaking instanceof ThoughtItem)) {
        events = this.closeSpeaking();
        this.speaking = this.add(new ThoughtItem(this.place("rs")));
        events += this.speaking.open(this.line);
      }
      this.speaking.carry({ call: id, extra });
    }
    events += this.closeSpeaking();
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

  private closeSpeaking(): string {
    const events = this.speaking?.close(this.line, "completed") ?? "";
    this.speaking = null;
    return events;
  }

  /** In the order of the output. If the stream was cut, only the last call, or the last text, had not ended. */
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
