// The events of a streamed message (surfaces.md §2). Those of an upstream that speaks this shape are passed on as they arrive, with
// our names in the first and our figures in the last ones, which wait for settlement; for any other upstream they are made from its
// parts.
import type { Refusal } from "../../../domain/refusals.ts";
import type { JsonObject } from "../../../domain/read-value.ts";
import { wireJson, wireLine } from "../../../domain/wire-json.ts";
import type { FinishReason } from "../../../providers/provider.ts";
import { printNamedEvent } from "../../event-stream.ts";
import type { AnswerFigures, AnswerHead, ShownPart, StreamPrinter } from "../format.ts";
import { BlockWriter } from "./block-writer.ts";
import { messageId } from "./message-body.ts";
import { printMessageError } from "./message-error.ts";
import { usageOfMessage } from "./message-usage.ts";
import { NativeEvents } from "./native-events.ts";
import { STOP_REASONS, stopReasonOf } from "./stop-reason.ts";

type NativePart = Extract<ShownPart, { type: "native" }>;

/** Replaces an end that is not the one recorded. */
function endOf(theirs: NativeEvents | null, reason: FinishReason): object | null {
  if (theirs === null) return null;
  const word = stopReasonOf(reason, theirs.stopReasons);
  return word === theirs.stopReasons.at(-1) ? null : { stop_reason: word, stop_sequence: null };
}

export class MessageEvents implements StreamPrinter {
  private events = 0;
  /** The receipt without cost, until the first event has sent it. */
  private gateway: string | null = null;
  private readonly blocks: BlockWriter;
  /** Set once the upstream sends its own events. */
  private theirs: NativeEvents | null = null;

  constructor(
    private readonly head: AnswerHead,
    private readonly numbered: boolean,
  ) {
    this.blocks = new BlockWriter((name, members) => this.event(name, `{"type":"${name}",${members}}`));
  }

  /** Nothing yet: the first event needs the first part. */
  begin(gateway: string): string {
    this.gateway = gateway;
    return "";
  }

  part(part: ShownPart): string {
    if (part.type === "native") return this.native(part);
    return this.theirs === null ? this.opened() + this.blocks.part(part) : "";
  }

  /** A message has one choice. */
  finish(): string {
    return "";
  }

  end(_choice: number, reason: FinishReason, { usage, gateway }: AnswerFigures): string {
    const { theirs, blocks } = this;
    const open = this.opened() + (theirs === null ? blocks.end() : theirs.closed());
    const ended = {
      stop_reason: blocks.refused && reason === "stop" ? "refusal" : STOP_REASONS[reason],
      stop_sequence: null,
    };
    const said: JsonObject = theirs?.last ?? { type: "message_delta" };
    const { usage: told, gateway: _none, ...rest } = said;
    const delta = {
      ...ended,
      ...(typeof rest["delta"] === "object" && rest["delta"]),
      ...endOf(theirs, reason),
    };
    const figures = { ...(typeof told === "object" && told), ...usageOfMessage(usage) };
    const last = wireJson({ ...rest, delta, usage: figures }).slice(0, -1);
    return (
      open +
      this.event("message_delta", `${last},"gateway":${gateway}}`) +
      this.event("message_stop", `{"type":"message_stop"}`)
    );
  }

  error(refusal: Refusal, gateway: string): string {
    const open = this.theirs === null ? this.blocks.end() : this.theirs.closed();
    return open + this.event("error", printMessageError(refusal, this.head.requestId, gateway));
  }

  filler(): string {
    return printNamedEvent("ping", `{"type":"ping"}`, null);
  }

  /** The first event of a message whose upstream does not print it: its usage is reported at the end. */
  private opened(): string {
    const { gateway } = this;
    if (gateway === null) return "";
    this.gateway = null;
    const message = {
      id: messageId(this.head.requestId),
      type: "message",
      role: "assistant",
      model: this.head.model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 0, output_tokens: 0 },
    };
    const start = `{"type":"message_start","message":${wireJson(message).slice(0, -1)},"gateway":${gateway}}}`;
    return this.event("message_start", start) + this.event("ping", `{"type":"ping"}`);
  }

  private native(native: NativePart): string {
    const { event, told } = native;
    this.theirs ??= new NativeEvents(this.head.requestId, (name, text) => this.event(name, wireLine(text)));
    if (event === "message_start") {
      const { gateway } = this;
      if (gateway === null) return ""; // some upstreams begin twice
      this.gateway = null;
      const { requestId, model } = this.head;
      return this.event(event, this.theirs.start(told, { id: messageId(requestId), model, gateway }));
    }
    return this.opened() + this.theirs.shown(native);
  }

  private event(name: string, data: string): string {
    return printNamedEvent(name, data, this.numbered ? ++this.events : null);
  }
}
