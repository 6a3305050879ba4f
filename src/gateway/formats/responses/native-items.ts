// The items of an answer whose upstream tells them by itself (surfaces.md §4), and their parts: found by what its events name, under numbers
// and ids with which every client can place them.
import { isJsonObject, type JsonObject } from "../../../domain/read-value.ts";
import { NO_ARGUMENTS } from "../../../domain/tool-arguments.ts";
import { itemId } from "./response-object.ts";

/** A part of a message or of a thought. */
export interface NativePiece {
  /** Ours: parts stand in the order in which they began. */
  readonly place: number;
  part: JsonObject;
  text: string;
  annotations: number;
  open: boolean;
}

/** Parts by how the upstream counts them. */
export class NativePieces {
  private readonly byTheirs = new Map<unknown, NativePiece>();
  readonly all: NativePiece[] = [];

  at(theirs: unknown): NativePiece | undefined {
    return this.byTheirs.get(theirs);
  }

  /** Of a place that is taken nothing but the words behind it is found again. */
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

  /** Of an item that has ended. */
  forget(): void {
    this.byTheirs.clear();
    this.all.length = 0;
  }
}

export interface NativeItem {
  /** Ours, which are the upstream's own wherever those are good. */
  readonly index: number;
  readonly id: string;
  /** The upstream's. */
  readonly toldId: unknown;
  item: JsonObject;
  /** A thought has its words and its summary, each counted by itself. */
  readonly content: NativePieces;
  readonly summary: NativePieces;
  /** Of a call. */
  text: string;
  /** The event that says its arguments as a whole has gone out. */
  argued: boolean;
  open: boolean;
}

/** A tool call that its client runs. */
export const CALLS: ReadonlySet<unknown> = new Set(["function_call", "custom_tool_call"]);

/** Of one answer. */
export const ITEMS_MAX = 2_000;
/** What the vendor's own ids begin with. */
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

  /** The open item that an event means: its place and its id where both fit, else either. */
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

  /** Whether it began before, be it closed by now. */
  has(place: unknown, { id, type }: JsonObject): boolean {
    const known = this.byPlace.get(place);
    return known !== undefined && known.toldId === id && known.item.type === type;
  }

  /** Throws for more items than an answer has. */
  begin(place: unknown, told: JsonObject): NativeItem {
    if (this.size >= ITEMS_MAX) throw new Error("the output has more and more items");
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

  /** Clients answer a call by it. */
  private callIdFor({ call_id: told }: JsonObject, id: string): string {
    const callId = typeof told === "string" && told !== "" && !this.callIds.has(told) ? told : `call_${id}`;
    this.callIds.add(callId);
    return callId;
  }
}

/** The output of a body that comes whole, with the ids that its stream would tell; what is good stays as it came. */
export function wholeOutput(output: unknown, requestId: string): JsonObject[] {
  const items = new NativeItems(requestId);
  return objectsIn(output).flatMap((item, place) => {
    if (!isItem(item)) return [];
    return place < ITEMS_MAX ? [items.begin(place, endedItem(item)).item] : [item];
  });
}

/** An item without a type is none. */
export const isItem = (item: unknown): item is JsonObject & { type: string } =>
  isJsonObject(item) && typeof item.type === "string" && item.type !== "";

const isOpen = (one: NativeItem | undefined, type: string | null): one is NativeItem =>
  one?.open === true && (type === null || one.item.type === type);

/** Whether it goes by the same names. */
export const isSameItem = (one: JsonObject, other: JsonObject): boolean =>
  one.id === other.id && one.type === other.type && one.call_id === other.call_id;

/** The same object where it says all of this already. */
export const sameMembers = (told: JsonObject, members: JsonObject): JsonObject =>
  Object.entries(members).every(([name, value]) => told[name] === value) ? told : { ...told, ...members };

/** A part as clients read it: with text, and with a list for what is cited. */
export function completePart(part: JsonObject): JsonObject {
  const words = part.type === "refusal" ? "refusal" : "text";
  const known = ["output_text", "refusal", "summary_text", "reasoning_text"].includes(String(part.type));
  return sameMembers(part, {
    ...(known && typeof part[words] !== "string" && { [words]: "" }),
    ...(part.type === "output_text" && !Array.isArray(part.annotations) && { annotations: [] }),
  });
}

/** An item as clients read it: with lists where its kind has lists, and text where it has text. */
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
 * One that has ended. Clients parse the arguments of a call: of one that was not cut none are `{}`.
 * `said`: those that came before its end.
 */
export function endedItem(told: JsonObject, said: unknown = "", cut = isCut(told)): JsonObject {
  const item = completeItem(told);
  if (item.type !== "function_call") return item;
  return sameMembers(item, { arguments: item.arguments || said || (cut ? "" : NO_ARGUMENTS) });
}

const isCut = ({ status }: JsonObject): boolean => status === "incomplete" || status === "in_progress";

/** One that begins: what is in it is told by events. */
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

/** Objects of a list; none of anything else. */
export const objectsIn = (list: unknown): JsonObject[] =>
  Array.isArray(list) ? list.filter(isJsonObject) : [];

export const toldText = (value: unknown): string => (typeof value === "string" ? value : "");
