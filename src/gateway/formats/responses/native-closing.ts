// Ends an item, or a part of one, that its upstream did not end: with the same events as the upstream's own.
import type { JsonObject } from "../../../domain/read-value.ts";
import { wireJson } from "../../../domain/wire-json.ts";
import type { EventLine } from "./event-line.ts";
import type { ItemStatus } from "./output-items.ts";
import { endedItem, type NativeItem, type NativePiece, type NativePieces } from "./native-items.ts";
import { wordMember, partDone, printItem, printPlace, TEXT, wordsOf } from "./native-words.ts";

/** The event with the complete arguments of a call. */
export const ARGUMENTS_DONE = "response.function_call_arguments.done";

/** Ends the item's parts, and then the item itself, with what was said of it. */
export function closeItem(one: NativeItem, line: EventLine, status: ItemStatus): string {
  let events = closePieces(one, line);
  const told = { ...one.item, ...("status" in one.item && { status }) };
  const ended: JsonObject = { ...endedItem(told, one.text, status === "incomplete") };
  const { content, summary } = one;
  if (one.item.type === "message" || content.all.length > 0) ended.content = partsOf(content);
  if (one.item.type === "reasoning") ended.summary = partsOf(summary);
  if (one.item.type === "function_call") events += closeArguments(one, ended.arguments, line);
  if (one.item.type === "custom_tool_call") {
    ended.input = one.text;
    events += closeText(one, line, "response.custom_tool_call_input.done", "input");
  }
  one.item = ended;
  one.open = false;
  const item = `"output_index":${one.index},"item":${wireJson(ended)}`;
  return events + line.print("response.output_item.done", item);
}

/** The events of a call's arguments that were not sent yet, now that all of them are known. */
export function closeArguments(one: NativeItem, whole: unknown, line: EventLine): string {
  if (one.argued) return "";
  let events = "";
  if (one.text === "" && typeof whole === "string" && whole !== "") {
    one.text = whole;
    const delta = `${printItem(one)},"delta":${wireJson(whole)}`;
    events = line.print("response.function_call_arguments.delta", delta);
  }
  return events + closeText(one, line, ARGUMENTS_DONE, "arguments");
}

/** Ends only its parts. */
export function closePieces(one: NativeItem, line: EventLine): string {
  let events = "";
  for (const { all } of [one.content, one.summary])
    for (const piece of all) if (piece.open) events += closePiece(piece, printItem(one), line);
  return events;
}

const closeText = (one: NativeItem, line: EventLine, event: string, member: string): string =>
  line.print(event, `${printItem(one)},"${member}":${wireJson(one.text)}`);

const partsOf = ({ all }: NativePieces): JsonObject[] => all.map(({ part }) => part);

function closePiece(piece: NativePiece, at: string, line: EventLine): string {
  const words = wordsOf(piece.part.type);
  piece.open = false;
  if (words === undefined)
    return line.print(
      "response.content_part.done",
      `${at},"content_index":${piece.place},"part":${wireJson(piece.part)}`,
    );
  const member = wordMember(words);
  piece.part = { ...piece.part, [member]: piece.text };
  const where = `${at},${printPlace(words, piece)}`;
  const logprobs = words === TEXT ? `,"logprobs":[]` : "";
  return (
    line.print(`${words.event}.done`, `${where},"${member}":${wireJson(piece.text)}${logprobs}`) +
    line.print(partDone(words), `${where},"part":${wireJson(piece.part)}`)
  );
}
