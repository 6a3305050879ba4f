// The items of an answer whose upstream sends them itself (surfaces.md §4), and their parts: looked up by what its events name,
// under numbers and ids with which every client can place them.
import { isJsonObject, type JsonObject } from "../../../domain/read-value.ts";
import { NO_ARGUMENTS } from "../../../domain/tool-arguments.ts";
import { itemId } from "./response-object.ts";

/** A part of a message or of a reasoning item. */
export interface NativePiece {
  /** Our index: parts are in the order in which they began. */
  readonly place: number;
  part: JsonObject;
  text: string;
  annotations: number;
  open: boolean;
}

/** Parts by the upstream's index. */
export class NativePieces {
  private readonly byTheirs = new Map<unknown, NativePiece>();
  readonly all: NativePiece[] = [];

  at(theirs: unknown): NativePiece | undefined {
    return this.byTheirs.get(theirs);
  }

  /** If the upstream's index is taken, it keeps finding the earlier part; the new one is found only as the one that began last. */
  begin(theirs: unknown, part: JsonObject): NativePiece {
    const piece: NativePiece = {
      place: this.all.length,
      part,
      text: "",
      annotations: objectsIn(part.annotations).length,
      open: true,
    };
    if (!this.byTheirs.has(theirs)) this.byTheirs.set(theirs, piece);
    this.all.push(piece);
    return piece;
  }

  /** Called when the item has ended. */
  forget(): void {
    this.byTheirs.clear();
    this.all.length = 0;
  }
}

export interface NativeItem {
  /** Our index and id, equal to the upstream's wherever those are valid. */
  readonly index: number;
  readonly id: string;
  /** The upstream's id. */
  readonly toldId: unknown;
  item: JsonObject;
  /** A reasoning item has content and a summary, each counted separately. */
  readonly content: NativePieces;
  readonly summary: NativePieces;
  /** Arguments of a call. */
  text: string;
  /** The event with its complete arguments has been sent. */
  argued: boolean;
  open: boolean;
}

/** A tool call that its client runs. */
export const CALLS: ReadonlySet<unknown> = new Set(["function_call", "custom_tool_call"]);

/** Items of one answer. */
export const ITEMS_MAX = 2_000;
/** The prefixes of the vendor's own ids. */
const PREFIXES: Readonly<Record<string, string>> = {
  message: "msg",
  reasoning: "rs",
  function_call: "fc",
  custom_tool_call: "ctc",
};

/** By place, by id and in the order of the output: upstreams name an item by any of these. */
export class NativeItems {
  private readonly byPlace = new Map<unknown, NativeItem>();
  private readonly byId = new Map<unknown, NativeItem>();
  private readonly byIndex = new Map<number, NativeItem>();
  private readonly lastOf = new Map<unknown, NativeItem>();
  private readonly callIds = new Set<string>();
  private next = 0;

  constructor(private readonly requestId: string) {}

  get size(): number {
    return this.byIndex.size;
  }

  /** In the order of the output. */
  all(): NativeItem[] {
    return [...this.byIndex.values()].toSorted((a, b) => a.index - b.index);
  }

  /** The open item that an event refers to: by its place and its id if both match, else by either. */
  find({ output_index: place, item_id: id }: JsonObject, type: string | null = null): NativeItem | null {
    const placed = this.byPlace.get(place);
    if (placed?.toldId === id && isOpen(placed, type)) return placed;
    const named = this.byId.get(id);
    if (isOpen(named, type)) return named;
    return isOpen(placed, type) ? placed : null;
  }

  /** The open item of this type that began last. */
  last(type: string): NativeItem | null {
    const last = this.lastOf.get(type);
    return isOpen(last, type) ? last : null;
  }

  /** Whether it began earlier, even if it is closed by now. */
  has(place: unknown, { id, type }: JsonObject): boolean {
    const known = this.byPlace.get(place);
    return known !== undefined && known.toldId === id && known.item.type === type;
  }

  /** Throws for more items than an answer may have. */
  begin(place: unknown, told: JsonObject): NativeItem {
    if (this.size >= ITEMS_MAX) throw new Error("the output has too many items");
    const index = this.indexFor(place);
    const id = this.idFor(told, index);
    const item = sameMembers(told, {
      id,
      ...(CALLS.has(told.type) && { call_id: this.callIdFor(told, id) }),
    });
    const begun: NativeItem = {
      index,
      id,
      toldId: told.id,
      item,
      content: new NativePieces(),
      summary: new NativePieces(),
      text: "",
      argued: false,
      open: true,
    };
    this.byPlace.set(place, begun);
    this.byId.set(id, begun);
    this.byIndex.set(index, begun);
    this.lastOf.set(told.type, begun);
    return begun;
  }

  private indexFor(place: unknown): number {
    const good = typeof place === "number" && Number.isInteger(place) && place >= 0 && place < ITEMS_MAX;
    const index = good && !this.byIndex.has(place) ? place : this.next;
    this.next = Math.max(this.next, index + 1);
    return index;
  }

  private idFor({ id, type }: JsonObject, index: number): string {
    if (typeof id === "string" && id !== "" && !this.byId.has(id)) return id;
    return itemId(this.requestId, PREFIXES[String(type)] ?? "item", index);
  }

  /** Clients answer a call by this id. */
  private callIdFor({ call_id: told }: JsonObject, id: string): string {
    const callId = typeof told === "string" && told !== "" && !this.callIds.has(told) ? told : `call_${id}`;
    this.callIds.add(callId);
    return callId;
  }
}

/** The output of a body that is not streamed, with the ids that its stream would have; valid ones are unchanged. */
export function wholeOutput(output: unknown, requestId: string): JsonObject[] {
  const items = new NativeItems(requestId);
  return objectsIn(output).flatMap((item, place) => {
    if (!isItem(item)) return [];
    return place < ITEMS_MAX ? [items.begin(place, endedItem(item)).item] : [item];
  });
}

/** An item without a type is not an item. */
export const isItem = (item: unknown): item is JsonObject & { type: string } =>
  isJsonObject(item) && typeof item.type === "string" && item.type !== "";

const isOpen = (one: NativeItem | undefined, type: string | null): one is NativeItem =>
  one?.open === true && (type === null || one.item.type === type);

/** Whether both go by the same names. */
export const isSameItem = (one: JsonObject, other: JsonObject): boolean =>
  one.id === other.id && one.type === other.type && one.call_id === other.call_id;

/** Returns the same object if it already has all of these members. */
export const sameMembers = (told: JsonObject, members: JsonObject): JsonObject =>
  Object.entries(members).every(([name, value]) => told[name] === value) ? told : { ...told, ...members };

/** A part as clients expect it: with text, and with a list of citations. */
export function completePart(part: JsonObject): JsonObject {
  const words = part.type === "refusal" ? "refusal" : "text";
  const known = ["output_text", "refusal", "summary_text", "reasoning_text"].includes(String(part.type));
  return sameMembers(part, {
    ...(known && typeof part[words] !== "string" && { [words]: "" }),
    ...(part.type === "output_text" && !Array.isArray(part.annotations) && { annotations: [] }),
  });
}

/** An item as clients expect it: with the lists and texts of its kind. */
export function completeItem(item: JsonObject): JsonObject {
  switch (item.type) {
    case "message":
      return sameMembers(item, { content: completeParts(item.content) });
    case "reasoning":
      return sameMembers(item, {
        summary: completeParts(item.summary),
        ...("content" in item && item.content !== null && { content: completeParts(item.content) }),
      });
    case "function_call":
      return sameMembers(item, { arguments: toldText(item.arguments) });
    case "custom_tool_call":
      return sameMembers(item, { input: toldText(item.input) });
    default:
      return item;
  }
}

/**
 * An item that has ended. Clients parse the arguments of a call: without any, they are `{}` unless the call was cut. `said`:
 * arguments that came before the end.
 */
export function endedItem(told: JsonObject, said: unknown = "", cut = isCut(told)): JsonObject {
  const item = completeItem(told);
  if (item.type !== "function_call") return item;
  return sameMembers(item, { arguments: item.arguments || said || (cut ? "" : NO_ARGUMENTS) });
}

const isCut = ({ status }: JsonObject): boolean => status === "incomplete" || status === "in_progress";

/** An item that begins: its contents are sent as events. */
export const emptyItem = (item: JsonObject): JsonObject =>
  sameMembers(item, {
    ...(item.type === "message" && { content: emptied(item.content) }),
    ...(item.type === "reasoning" && { summary: emptied(item.summary) }),
    ...(item.type === "reasoning" && Array.isArray(item.content) && { content: emptied(item.content) }),
  });

const emptied = (list: unknown): unknown => (Array.isArray(list) && list.length === 0 ? list : []);

function completeParts(told: unknown): unknown {
  const parts = objectsIn(told).map(completePart);
  return Array.isArray(told) && parts.length === told.length && parts.every((part, at) => part === told[at])
    ? told
    : parts;
}

/** The objects in a list; none for any other value. */
export const objectsIn = (list: unknown): JsonObject[] =>
  Array.isArray(list) ? list.filter(isJsonObject) : [];

export const toldText = (value: unknown): string => (typeof value === "string" ? value : "");
