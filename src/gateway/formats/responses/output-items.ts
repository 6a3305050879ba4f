// The items of a Responses answer (surfaces.md §2): a message, a reasoning item, a call. Each opens, grows and closes by events,
// and is sent once more as a whole when the response ends.
import { NO_ARGUMENTS } from "../../../domain/tool-arguments.ts";
import { wireJson } from "../../../domain/wire-json.ts";
import type { UrlCitation } from "../../../providers/provider.ts";
import type { EventLine } from "./event-line.ts";
import { inputOfArguments, type OfferedTool } from "./offered-tools.ts";
import { type CarriedState, sealState } from "./sealed-state.ts";

export type ItemStatus = "completed" | "incomplete";

/** The request of an item, and its place in the output. */
export interface ItemPlace {
  id: string;
  index: number;
}

/** One item, from its first event to its last. */
export interface OutputItem {
  readonly index: number;
  /** As it is sent when the response ends; null while it is open. */
  whole: string | null;
  /** The events that close it. */
  close(line: EventLine, status: ItemStatus): string;
}

const added = (line: EventLine, { index }: ItemPlace, item: string): string =>
  line.print("response.output_item.added", `"output_index":${index},"item":${item}`);

const done = (line: EventLine, { index }: ItemPlace, item: string): string =>
  line.print("response.output_item.done", `"output_index":${index},"item":${item}`);

/** A message item; `content` is JSON text without its brackets. */
export const printSpoken = (id: string, status: ItemStatus | "in_progress", content: string): string =>
  `{"id":"${id}","type":"message","status":"${status}","role":"assistant","content":[${content}]}`;

/** A part of a message; `logprobs` is JSON text without its brackets. */
export const printText = (text: string, logprobs: string, annotations: readonly UrlCitation[]): string =>
  `{"type":"output_text","annotations":${printAnnotations(annotations)},"logprobs":[${logprobs}],"text":${wireJson(text)}}`;

/** A part in which the model refused. */
export const printRefused = (text: string): string => `{"type":"refusal","refusal":${wireJson(text)}}`;

const printAnnotations = (annotations: readonly UrlCitation[]): string =>
  annotations.length === 0 ? "[]" : wireJson(annotations.map(annotationOf));

/** Flat here, nested in chat completions. */
const annotationOf = ({ type, url_citation: cited }: UrlCitation): object => ({ type, ...cited });

/** Log probabilities of tokens, without the list's brackets; given in the form of chat completions. */
export function printLogprobs(logprobs: unknown): string {
  const { content } = (logprobs ?? {}) as { content?: unknown };
  return Array.isArray(content) ? wireJson(content.map(tokenOf)).slice(1, -1) : "";
}

/** Here a token without bytes has an empty list of them. */
function tokenOf(told: Record<string, unknown>): object {
  const { token, logprob, bytes, top_logprobs: top } = told;
  return {
    token,
    logprob,
    bytes: bytes ?? [],
    ...(top !== undefined && { top_logprobs: Array.isArray(top) ? top.map(tokenOf) : [] }),
  };
}

interface TextPart {
  kind: "output_text" | "refusal";
  text: string;
  logprobs: string;
  closed: string | null;
}

/** A message, part after part: text and refusal may alternate. */
export class MessageItem implements OutputItem {
  whole: string | null = null;
  readonly index: number;
  private readonly parts: TextPart[] = [];
  private annotations: readonly UrlCitation[] = [];

  constructor(private readonly at: ItemPlace) {
    this.index = at.index;
  }

  open(line: EventLine): string {
    return added(line, this.at, printSpoken(this.at.id, "in_progress", ""));
  }

  say(
    line: EventLine,
    kind: TextPart["kind"],
    { text, logprobs }: { text: string; logprobs: string },
  ): string {
    let events = "";
    let part = this.parts.at(-1);
    if (part?.kind !== kind) {
      if (part !== undefined) events += this.closePart(line, part, this.parts.length - 1);
      part = { kind, text: "", logprobs: "", closed: null };
      this.parts.push(part);
      const empty = kind === "refusal" ? printRefused("") : printText("", "", []);
      events += line.print("response.content_part.added", `${this.where()},"part":${empty}`);
    }
    part.text += text;
    if (kind === "refusal")
      return events + line.print("response.refusal.delta", `${this.where()},"delta":${wireJson(text)}`);
    if (logprobs !== "") part.logprobs += part.logprobs === "" ? logprobs : `,${logprobs}`;
    const delta = `${this.where()},"delta":${wireJson(text)},"logprobs":[${logprobs}]`;
    return events + line.print("response.output_text.delta", delta);
  }

  /** Citations of the whole text, at its end. */
  annotate(line: EventLine, annotations: readonly UrlCitation[]): string {
    const part = this.parts.at(-1);
    if (part?.kind !== "output_text" || part.closed !== null) return "";
    this.annotations = annotations;
    return annotations
      .map((annotation, at) =>
        line.print(
          "response.output_text.annotation.added",
          `${this.where()},"annotation_index":${at},"annotation":${wireJson(annotationOf(annotation))}`,
        ),
      )
      .join("");
  }

  close(line: EventLine, status: ItemStatus): string {
    let events = "";
    for (const [at, part] of this.parts.entries())
      if (part.closed === null) events += this.closePart(line, part, at);
    this.whole = printSpoken(this.at.id, status, this.parts.map(({ closed }) => closed ?? "").join(","));
    return events + done(line, this.at, this.whole);
  }

  private closePart(line: EventLine, part: TextPart, at: number): string {
    const { kind, text, logprobs } = part;
    const where = this.where(at);
    part.closed = kind === "refusal" ? printRefused(text) : printText(text, logprobs, this.annotationsOf(at));
    const told =
      kind === "refusal"
        ? line.print("response.refusal.done", `${where},"refusal":${wireJson(text)}`)
        : line.print(
            "response.output_text.done",
            `${where},"text":${wireJson(text)},"logprobs":[${logprobs}]`,
          );
    return told + line.print("response.content_part.done", `${where},"part":${part.closed}`);
  }

  private annotationsOf(at: number): readonly UrlCitation[] {
    return at === this.parts.length - 1 ? this.annotations : [];
  }

  private where(at = this.parts.length - 1): string {
    return `"item_id":"${this.at.id}","output_index":${this.index},"content_index":${at}`;
  }
}

const sealed = (state: string | null): string => (state === null ? "" : `,"encrypted_content":"${state}"`);

/** A reasoning item; `state`: the state sealed into it, null for none. */
export const printThought = (id: string, text: string | null, state: string | null): string =>
  `{"id":"${id}","type":"reasoning","summary":[${text === null ? "" : summaryOf(text)}]${sealed(state)}}`;

const summaryOf = (text: string): string => `{"type":"summary_text","text":${wireJson(text)}}`;

/** Reasoning, as its summary; state that must come back is sealed into it when it ends. */
export class ThoughtItem implements OutputItem {
  whole: string | null = null;
  readonly index: number;
  private text: string | null = null;
  private state: string | null = null;

  constructor(private readonly at: ItemPlace) {
    this.index = at.index;
  }

  open(line: EventLine): string {
    return added(line, this.at, printThought(this.at.id, null, null));
  }

  say(line: EventLine, text: string): string {
    const begins =
      this.text === null
        ? line.print("response.reasoning_summary_part.added", `${this.where},"part":${summaryOf("")}`)
        : "";
    this.text = (this.text ?? "") + text;
    return (
      begins + line.print("response.reasoning_summary_text.delta", `${this.where},"delta":${wireJson(text)}`)
    );
  }

  carry(state: CarriedState): void {
    this.state = sealState(state);
  }

  close(line: EventLine): string {
    let events = "";
    if (this.text !== null)
      events =
        line.print("response.reasoning_summary_text.done", `${this.where},"text":${wireJson(this.text)}`) +
        line.print("response.reasoning_summary_part.done", `${this.where},"part":${summaryOf(this.text)}`);
    this.state ??= sealState({ call: null, extra: {} });
    this.whole = printThought(this.at.id, this.text, this.state);
    return events + done(line, this.at, this.whole);
  }

  private get where(): string {
    return `"item_id":"${this.at.id}","output_index":${this.index},"summary_index":0`;
  }
}

export interface Called extends ItemPlace {
  callId: string;
  tool: OfferedTool;
}

/** Missing arguments become an empty object, unless they were cut. */
export function printCall(
  { id, callId, tool }: Omit<Called, "index">,
  status: ItemStatus | "in_progress",
  text: string,
): string {
  const group = tool.namespace === null ? "" : `,"namespace":${wireJson(tool.namespace)}`;
  const named = `"call_id":${wireJson(callId)},"name":${wireJson(tool.name)}${group}`;
  if (tool.kind === "custom")
    return `{"id":"${id}","type":"custom_tool_call",${named},"input":${wireJson(inputOfArguments(text))}}`;
  const whole = text === "" && status === "completed" ? NO_ARGUMENTS : text;
  return `{"id":"${id}","type":"function_call","status":"${status}",${named},"arguments":${wireJson(whole)}}`;
}

/** A call. The text of a free-text tool arrives as arguments, so it is sent once they are complete. */
export class CallItem implements OutputItem {
  whole: string | null = null;
  readonly index: number;
  private text = "";

  constructor(private readonly called: Called) {
    this.index = called.index;
  }

  open(line: EventLine): string {
    return added(line, this.called, printCall(this.called, "in_progress", ""));
  }

  say(line: EventLine, text: string): string {
    this.text += text;
    if (this.called.tool.kind === "custom") return "";
    return line.print("response.function_call_arguments.delta", `${this.where},"delta":${wireJson(text)}`);
  }

  close(line: EventLine, status: ItemStatus): string {
    const { called } = this;
    let events = "";
    if (called.tool.kind === "custom") {
      const input = wireJson(inputOfArguments(this.text));
      events =
        line.print("response.custom_tool_call_input.delta", `${this.where},"delta":${input}`) +
        line.print("response.custom_tool_call_input.done", `${this.where},"input":${input}`);
    } else {
      if (this.text === "" && status === "completed") events += this.say(line, NO_ARGUMENTS);
      const whole = `"arguments":${wireJson(this.text)}`;
      events += line.print("response.function_call_arguments.done", `${this.where},${whole}`);
    }
    this.whole = printCall(called, status, this.text);
    return events + done(line, called, this.whole);
  }

  private get where(): string {
    return `"item_id":"${this.called.id}","output_index":${this.index}`;
  }
}
