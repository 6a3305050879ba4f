// What an upstream of this very shape has told of its output (surfaces.md §4): its events go on as they come, and what it opened can be
// closed in its place where it is cut.
import { ANSWER_BYTES_MAX } from "../../../domain/answer-size.ts";
import { isJsonObject, type JsonObject } from "../../../domain/read-value.ts";
import { wireJson } from "../../../domain/wire-json.ts";
import type { ShownPart } from "../format.ts";
import type { EventLine } from "./event-line.ts";

/** A part of a message or of a thought. */
interface NativePiece {
  part: JsonObject;
  text: string;
  open: boolean;
}

interface NativeItem {
  index: number;
  item: JsonObject;
  /** By their place in it; a thought has its words and its summary, each counted by itself. */
  content: Map<number, NativePiece>;
  summary: Map<number, NativePiece>;
  /** Of a call. */
  text: string;
  open: boolean;
}

/** A name that cannot end its line. */
const NAME = /^[a-z_.]{1,64}$/;
const CALLS = new Set(["function_call", "custom_tool_call"]);

export class NativeOutput {
  /** Of events whose items and parts are kept. */
  private keptCharacters = 0;
  private readonly items = new Map<number, NativeItem>();
  private readonly calls: NativeItem[] = [];
  /** Of messages, and of thoughts, the part that began last. */
  private speaking: NativePiece | null = null;
  private thinking: NativePiece | null = null;

  /** Notes an event; false where it does not go on. */
  goesOn(event: string, data: string): boolean {
    switch (event) {
      case "response.output_item.added":
        return this.opened(this.kept(data));
      case "response.output_item.done":
        return this.closed(this.kept(data));
      case "response.content_part.added":
      case "response.reasoning_summary_part.added":
        return this.began(this.kept(data));
      case "response.content_part.done":
      case "response.reasoning_summary_part.done":
        return this.ended(this.kept(data));
      default:
        return NAME.test(event);
    }
  }

  /** Notes an event that went on before, with the words in it. */
  again(event: string, data: string): void {
    if (!this.goesOn(event, data) || !event.endsWith(".delta")) return;
    const { delta, ...told } = read(data);
    const item = this.items.get(Number(told.output_index));
    if (item?.open !== true || typeof delta !== "string") return;
    const { pieces, place } = placeOf(told, item);
    const grown = CALLS.has(String(item.item.type)) ? item : pieces.get(place);
    if (grown !== undefined) grown.text += delta;
  }

  /** What an event said. */
  grow(part: ShownPart): void {
    if (part.type === "tool_arguments") {
      const call = this.calls[part.index];
      if (call !== undefined) call.text += part.text;
    } else if (part.type === "reasoning") {
      if (this.thinking?.open === true) this.thinking.text += part.text;
    } else if (part.type === "text" || part.type === "refusal") {
      if (this.speaking?.open === true) this.speaking.text += part.text;
    }
  }

  /** The events that close what is still open. */
  closeAll(line: EventLine, status: "completed" | "incomplete"): string {
    let events = "";
    for (const item of this.items.values()) if (item.open) events += closing(item, line, status);
    return events;
  }

  /** Read, within what a whole answer may be. Throws beyond it: the stream ends there. */
  private kept(data: string): JsonObject {
    this.keptCharacters += data.length;
    if (this.keptCharacters > ANSWER_BYTES_MAX) throw new Error("the output is more than an answer may be");
    return read(data);
  }

  /** All items, in the order of the output. */
  whole(): JsonObject[] {
    return [...this.items.values()].toSorted((a, b) => a.index - b.index).map(({ item }) => item);
  }

  private opened({ output_index: index, item }: JsonObject): boolean {
    if (typeof index !== "number" || !isJsonObject(item) || this.items.has(index)) return false;
    const opened: NativeItem = { index, item, content: new Map(), summary: new Map(), text: "", open: true };
    this.items.set(index, opened);
    if (CALLS.has(String(item.type))) this.calls.push(opened);
    return true;
  }

  private closed({ output_index: index, item }: JsonObject): boolean {
    const opened = this.items.get(Number(index));
    if (opened?.open !== true || !isJsonObject(item)) return false;
    opened.item = item;
    opened.open = false;
    opened.content.clear();
    opened.summary.clear();
    return true;
  }

  private began(event: JsonObject): boolean {
    const item = this.items.get(Number(event.output_index));
    if (item?.open !== true || !isJsonObject(event.part)) return false;
    const { pieces, place } = placeOf(event, item);
    if (pieces.has(place)) return false;
    const piece: NativePiece = { part: event.part, text: "", open: true };
    pieces.set(place, piece);
    if (item.item.type === "reasoning") this.thinking = piece;
    else this.speaking = piece;
    return true;
  }

  private ended(event: JsonObject): boolean {
    const item = this.items.get(Number(event.output_index));
    if (item === undefined) return false;
    const { pieces, place } = placeOf(event, item);
    const piece = pieces.get(place);
    if (piece?.open !== true || !isJsonObject(event.part)) return false;
    piece.part = event.part;
    piece.open = false;
    return true;
  }
}

/** Which part of the item an event means. */
function placeOf(event: JsonObject, { content, summary }: NativeItem) {
  const { content_index: at, summary_index: summed } = event;
  return summed === undefined
    ? { pieces: content, place: Number(at ?? 0) }
    : { pieces: summary, place: Number(summed) };
}

/** The reader of the upstream has read it before: it is an object. */
function read(data: string): JsonObject {
  const value: unknown = JSON.parse(data);
  return isJsonObject(value) ? value : {};
}

const partsOf = (pieces: ReadonlyMap<number, NativePiece>): JsonObject[] =>
  [...pieces.values()].map(({ part }) => part);

function closing(one: NativeItem, line: EventLine, status: "completed" | "incomplete"): string {
  const at = `"item_id":${wireJson(one.item.id ?? "")},"output_index":${one.index}`;
  let events = "";
  for (const pieces of [one.content, one.summary])
    for (const [place, piece] of pieces) if (piece.open) events += closingPiece(piece, { at, place, line });
  const ended: JsonObject = { ...one.item, ...("status" in one.item && { status }) };
  if (one.item.type === "message" || one.content.size > 0) ended.content = partsOf(one.content);
  if (one.item.type === "reasoning") ended.summary = partsOf(one.summary);
  if (one.item.type === "function_call") {
    ended.arguments = one.text;
    events += line.print("response.function_call_arguments.done", `${at},"arguments":${wireJson(one.text)}`);
  }
  if (one.item.type === "custom_tool_call") {
    ended.input = one.text;
    events += line.print("response.custom_tool_call_input.done", `${at},"input":${wireJson(one.text)}`);
  }
  one.item = ended;
  one.open = false;
  return (
    events + line.print("response.output_item.done", `"output_index":${one.index},"item":${wireJson(ended)}`)
  );
}

function closingPiece(
  piece: NativePiece,
  { at, place, line }: { at: string; place: number; line: EventLine },
): string {
  const { type } = piece.part;
  const text = wireJson(piece.text);
  piece.open = false;
  piece.part =
    type === "refusal" ? { ...piece.part, refusal: piece.text } : { ...piece.part, text: piece.text };
  const part = wireJson(piece.part);
  if (type === "summary_text") {
    const where = `${at},"summary_index":${place}`;
    return (
      line.print("response.reasoning_summary_text.done", `${where},"text":${text}`) +
      line.print("response.reasoning_summary_part.done", `${where},"part":${part}`)
    );
  }
  const where = `${at},"content_index":${place}`;
  const told =
    type === "refusal"
      ? line.print("response.refusal.done", `${where},"refusal":${text}`)
      : type === "output_text"
        ? line.print("response.output_text.done", `${where},"text":${text},"logprobs":[]`)
        : line.print("response.reasoning_text.done", `${where},"text":${text}`);
  return told + line.print("response.content_part.done", `${where},"part":${part}`);
}
