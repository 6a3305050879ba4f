// Texts in the parts of a native answer (surfaces.md §4): the part and item of each kind, and how its events name the place.
import { isJsonObject, type JsonObject } from "../../../domain/read-value.ts";
import { wireJson } from "../../../domain/wire-json.ts";
import type { NativeItem, NativePiece, NativePieces } from "./native-items.ts";

/** One kind of text: the kinds of part and item that hold it, and the name of its events before `.delta` and `.done`. */
export interface Words {
  part: string;
  item: "message" | "reasoning";
  event: string;
}

const WORDS: readonly Words[] = [
  { part: "output_text", item: "message", event: "response.output_text" },
  { part: "refusal", item: "message", event: "response.refusal" },
  { part: "reasoning_text", item: "reasoning", event: "response.reasoning_text" },
  { part: "summary_text", item: "reasoning", event: "response.reasoning_summary_text" },
];
export const [TEXT] = WORDS as readonly [Words];
export const WORD_DELTAS: ReadonlyMap<string, Words> = new Map(
  WORDS.map((one) => [`${one.event}.delta`, one]),
);
/** By the event that carries the complete text. */
export const WORD_ENDS: ReadonlyMap<string, Words> = new Map(WORDS.map((one) => [`${one.event}.done`, one]));
const BY_PART = new Map<unknown, Words>(WORDS.map((one) => [one.part, one]));

/** A new item of this kind, if there was no event that began it. */
export const NEW_ITEM: Record<Words["item"], JsonObject> = {
  message: { type: "message", status: "in_progress", role: "assistant", content: [] },
  reasoning: { type: "reasoning", summary: [] },
};

/** The member of a part that holds its text. */
export const wordMember = ({ part }: Pick<Words, "part">): "refusal" | "text" =>
  part === "refusal" ? part : "text";

/** The kind of text in a part of this type. */
export const wordsOf = (type: unknown): Words | undefined => BY_PART.get(type);

/** The kind of text in a part that an event of this name carries; null if the two do not belong together. */
export function partWords(part: unknown, event: string): Words | null {
  if (!isJsonObject(part) || typeof part.type !== "string") return null;
  const words = BY_PART.get(part.type) ?? { part: part.type, item: "message", event: "" };
  return isSummary(words) === event.startsWith("response.reasoning_summary_part.") ? words : null;
}

const isSummary = ({ part }: Words): boolean => part === "summary_text";

/** The event that begins a part of this kind. */
export const partAdded = (words: Words): string =>
  isSummary(words) ? "response.reasoning_summary_part.added" : "response.content_part.added";

/** The event that ends one. */
export const partDone = (words: Words): string =>
  isSummary(words) ? "response.reasoning_summary_part.done" : "response.content_part.done";

/** Where an item keeps its parts of this kind: summaries are separate from content. */
export const piecesOf = (item: NativeItem, words: Words): NativePieces =>
  isSummary(words) ? item.summary : item.content;

/** The upstream's index of a part. */
export const pieceIndex = (told: JsonObject, words: Words): unknown =>
  isSummary(words) ? told.summary_index : told.content_index;

/** The members that give a part's place. */
export const whereIs = (item: NativeItem, words: Words, { place }: NativePiece): JsonObject => ({
  output_index: item.index,
  item_id: item.id,
  [isSummary(words) ? "summary_index" : "content_index"]: place,
});

/** The same, printed: the item, and the part in it. */
export const printWhere = (item: NativeItem, words: Words, piece: NativePiece): string =>
  `${printItem(item)},${printPlace(words, piece)}`;

/** The members that name the item, as JSON text without braces. */
export const printItem = ({ id, index }: NativeItem): string =>
  `"item_id":${wireJson(id)},"output_index":${index}`;

/** The member that gives the part of the item, as JSON text. */
export const printPlace = (words: Words, { place }: NativePiece): string =>
  `"${isSummary(words) ? "summary_index" : "content_index"}":${place}`;

/** The open part that an event refers to: the one in its place, else the one that began last. */
export function openPiece(item: NativeItem, words: Words, told: JsonObject): NativePiece | null {
  const pieces = piecesOf(item, words);
  for (const piece of [pieces.at(pieceIndex(told, words)), pieces.all.at(-1)])
    if (piece?.open === true && piece.part.type === words.part) return piece;
  return null;
}
