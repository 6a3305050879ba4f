// What an upstream of this very shape sends as its output (surfaces.md §4). Its events are passed on as they come, as far as a
// client can place them: odd numbers are corrected, what was never opened is opened, and what is open can be closed when the stream
// is cut.
import { ANSWER_BYTES_MAX } from "../../../domain/answer-size.ts";
import type { JsonObject } from "../../../domain/read-value.ts";
import { wireJson } from "../../../domain/wire-json.ts";
import type { NativeEvent } from "../../../providers/provider.ts";
import { EventLine } from "./event-line.ts";
import { ARGUMENTS_DONE, closeArguments, closeItem, closePieces } from "./native-closing.ts";
import {
  CALLS,
  emptyItem,
  isItem,
  isSameItem,
  ITEMS_MAX,
  NativeItems,
  type NativeItem,
  type NativePiece,
  objectsIn,
  completeItem,
  completePart,
  endedItem,
  sameMembers,
  toldText,
} from "./native-items.ts";
import {
  wordMember,
  NEW_ITEM,
  openPiece,
  partAdded,
  piecesOf,
  pieceIndex,
  printItem,
  printWhere,
  TEXT,
  type Words,
  whereIs,
  WORD_DELTAS,
  WORD_ENDS,
  partWords,
  wordsOf,
} from "./native-words.ts";

/** A name that cannot end its line. */
const NAME = /^[a-z_.]{1,64}$/;

/** Events that extend a call that its client runs. */
const ARGUMENTS = new Map([
  ["response.function_call_arguments.delta", "function_call"],
  ["response.custom_tool_call_input.delta", "custom_tool_call"],
]);
/** The kind of item that a tool's event is about. */
const OF_TOOL = /^response\.([a-z_]+_call)(?:[._]|$)/;

export class NativeOutput {
  /** Of events whose items and parts are kept. */
  private keptCharacters = 0;
  private readonly items: NativeItems;

  /** `requestId`: the source of ids that the upstream left out. */
  constructor(requestId: string) {
    this.items = new NativeItems(requestId);
  }

  /** An event as it is passed on, printed, with what must precede it; "" if no client could place it. */
  pass(native: NativeEvent, line: EventLine): string {
    const { event } = native;
    switch (event) {
      case "response.output_item.added":
        return this.opened(native, line);
      case "response.output_item.done":
        return this.closed(native, line);
      case "response.content_part.added":
      case "response.reasoning_summary_part.added":
        return this.began(native, line);
      case "response.content_part.done":
      case "response.reasoning_summary_part.done":
        return this.ended(native, line);
      case "response.output_text.annotation.added":
        return this.cited(native, line);
      default: {
        const words = WORD_DELTAS.get(event);
        if (words !== undefined) return this.said(words, native, line);
        const ends = WORD_ENDS.get(event);
        if (ends !== undefined) return this.saidWhole(ends, native, line);
        const call = ARGUMENTS.get(event);
        if (call !== undefined) return this.argued(call, native, line);
        if (event === ARGUMENTS_DONE) return this.arguedWhole(native, line);
        return NAME.test(event) ? this.other(OF_TOOL.exec(event)?.[1] ?? null, native, line) : "";
      }
    }
  }

  /** Records an event that was sent before, unless the beginning of its item is missing. */
  again(native: NativeEvent): void {
    const { event, told } = native;
    const known = event === "response.output_item.added" || this.items.find(told) !== null;
    if (known || told.output_index === undefined) this.pass(native, EventLine.unsent());
  }

  /** The events that close what is still open. */
  closeAll(line: EventLine, status: "completed" | "incomplete"): string {
    let events = "";
    for (const item of this.items.all()) if (item.open) events += closeItem(item, line, status);
    return events;
  }

  /** The items of a response that sent none of them before its end, as events. */
  tell(output: unknown, line: EventLine): string {
    if (this.items.size > 0) return "";
    return objectsIn(output)
      .slice(0, ITEMS_MAX)
      .map((item, place) => this.told(place, item, line))
      .join("");
  }

  /** All items, in the order of the output: the upstream's own list if it names the same ones. */
  whole(output?: unknown): JsonObject[] {
    const items = this.items.all();
    const list = objectsIn(output).map((item, at) => endedItem(item, items[at]?.item.arguments));
    const same =
      Array.isArray(output) &&
      output.length === items.length &&
      items.every(({ item }, at) => isSameItem(item, list[at] ?? {}));
    return same ? list : items.map(({ item }) => item);
  }

  /** Bounds what is kept by the size of a whole answer. Throws beyond it: the stream ends there. */
  private keep({ data }: NativeEvent): void {
    this.keptCharacters += data.length;
    if (this.keptCharacters > ANSWER_BYTES_MAX) throw new Error("the output is larger than an answer may be");
  }

  private opened(native: NativeEvent, line: EventLine): string {
    this.keep(native);
    const { output_index: place, item } = native.told;
    if (!isItem(item) || this.items.has(place, item)) return "";
    const begun = this.items.begin(place, emptyItem(completeItem(item)));
    return line.pass(native, { output_index: begun.index, item: begun.item });
  }

  private closed(native: NativeEvent, line: EventLine): string {
    this.keep(native);
    const { output_index: place, item } = native.told;
    if (!isItem(item)) return "";
    const opened = this.items.find({ output_index: place, item_id: item.id }, item.type);
    if (opened === null) return this.items.has(place, item) ? "" : this.told(place, item, line);
    const { id, call_id: callId } = opened.item;
    opened.item = sameMembers(endedItem(item, opened.text), {
      id,
      ...(callId !== undefined && { call_id: callId }),
    });
    let events = closePieces(opened, line);
    if (item.type === "function_call") events += closeArguments(opened, opened.item.arguments, line);
    opened.open = false;
    for (const list of [opened.content, opened.summary]) list.forget();
    return events + line.pass(native, { output_index: opened.index, item: opened.item });
  }

  /** An item that comes complete: opened, sent and closed. */
  private told(place: unknown, item: JsonObject, line: EventLine): string {
    if (!isItem(item)) return "";
    const { type } = item;
    const lists = { content: objectsIn(item.content), summary: objectsIn(item.summary) };
    const one = this.items.begin(place, {
      ...emptyItem(completeItem(item)),
      ...(type === "function_call" && { arguments: "" }),
      ...(type === "custom_tool_call" && { input: "" }),
    });
    let events = printAdded(one, line);
    if (CALLS.has(type)) {
      one.text = toldText(endedItem(item).arguments ?? item.input);
      const event = type === "function_call" ? "function_call_arguments" : "custom_tool_call_input";
      events += line.print(`response.${event}.delta`, `${printItem(one)},"delta":${wireJson(one.text)}`);
    }
    if (type === "message" || type === "reasoning")
      for (const part of [...lists.summary, ...lists.content]) events += this.toldPart(one, part, line);
    const status = item.status === "incomplete" ? "incomplete" : "completed";
    return events + closeItem(one, line, status);
  }

  private toldPart(one: NativeItem, part: JsonObject, line: EventLine): string {
    const words = wordsOf(part.type);
    if (words?.item !== one.item.type || words === undefined) return "";
    const piece = piecesOf(one, words).begin({}, completePart({ ...part, [wordMember(words)]: "" }));
    piece.text = toldText(part[wordMember(words)]);
    const where = printWhere(one, words, piece);
    const logprobs = words === TEXT ? `,"logprobs":[]` : "";
    return (
      line.print(partAdded(words), `${where},"part":${wireJson(piece.part)}`) +
      line.print(`${words.event}.delta`, `${where},"delta":${wireJson(piece.text)}${logprobs}`)
    );
  }

  private began(native: NativeEvent, line: EventLine): string {
    this.keep(native);
    const { event, told } = native;
    const words = partWords(told.part, event);
    const item = words === null ? null : this.itemOf(words, told);
    if (words === null || item === null || piecesOf(item, words).at(pieceIndex(told, words)) !== undefined)
      return "";
    const piece = piecesOf(item, words).begin(pieceIndex(told, words), completePart(told.part as JsonObject));
    return line.pass(native, { ...whereIs(item, words, piece), part: piece.part });
  }

  private ended(native: NativeEvent, line: EventLine): string {
    this.keep(native);
    const { event, told } = native;
    const words = partWords(told.part, event);
    const found = words === null ? null : this.found(words, told);
    if (words === null || found === null) return "";
    const { item, piece } = found;
    piece.part = completePart(told.part as JsonObject);
    piece.open = false;
    return line.pass(native, { ...whereIs(item, words, piece), part: piece.part });
  }

  private cited(native: NativeEvent, line: EventLine): string {
    const found = this.found(TEXT, native.told);
    if (found === null) return "";
    const { item, piece } = found;
    return line.pass(native, { ...whereIs(item, TEXT, piece), annotation_index: piece.annotations++ });
  }

  private said(words: Words, native: NativeEvent, line: EventLine): string {
    const { told } = native;
    if (typeof told.delta !== "string") return "";
    let before = "";
    let item = this.itemOf(words, told);
    if (item === null) {
      item = this.items.begin(told.output_index, NEW_ITEM[words.item]);
      before = printAdded(item, line);
    }
    let piece = openPiece(item, words, told);
    if (piece === null) {
      piece = piecesOf(item, words).begin(pieceIndex(told, words), completePart({ type: words.part }));
      before += line.print(
        partAdded(words),
        `${printWhere(item, words, piece)},"part":${wireJson(piece.part)}`,
      );
    }
    piece.text += told.delta;
    return before + line.pass(native, whereIs(item, words, piece));
  }

  private saidWhole(words: Words, native: NativeEvent, line: EventLine): string {
    const found = this.found(words, native.told);
    if (found === null || typeof native.told[wordMember(words)] !== "string") return "";
    return line.pass(native, whereIs(found.item, words, found.piece));
  }

  private argued(type: string, native: NativeEvent, line: EventLine): string {
    const { told } = native;
    const item = this.items.find(told, type) ?? this.items.last(type);
    if (item === null || typeof told.delta !== "string") return "";
    item.text += told.delta;
    return line.pass(native, { output_index: item.index, item_id: item.id });
  }

  /** For a call without arguments this waits for the end of the item, which says whether it was cut. */
  private arguedWhole(native: NativeEvent, line: EventLine): string {
    const item = this.items.find(native.told, "function_call");
    if (item !== null && item.text === "" && toldText(native.told.arguments) === "") return "";
    if (item !== null) item.argued = true;
    return this.other("function_call", native, line);
  }

  /** An event of one of the vendor's tools, or an unknown one: if it names an item, that item must be open. */
  private other(type: string | null, native: NativeEvent, line: EventLine): string {
    const { told } = native;
    if (type === null && told.output_index === undefined) return line.pass(native, {});
    const item = this.items.find(told, type);
    if (item === null) return "";
    return line.pass(native, {
      output_index: item.index,
      ...((type !== null || told.item_id !== undefined) && { item_id: item.id }),
    });
  }

  private itemOf(words: Words, told: JsonObject): NativeItem | null {
    return this.items.find(told, words.item) ?? this.items.last(words.item);
  }

  private found(words: Words, told: JsonObject): { item: NativeItem; piece: NativePiece } | null {
    const item = this.itemOf(words, told);
    const piece = item === null ? null : openPiece(item, words, told);
    return item === null || piece === null ? null : { item, piece };
  }
}

const printAdded = (one: NativeItem, line: EventLine): string =>
  line.print("response.output_item.added", `"output_index":${one.index},"item":${wireJson(one.item)}`);
