// A conversation of ours as the vendor takes it: roles that alternate, no empty text, every result in the message behind its
// calls and in front of all else, thoughts in front of the calls that they led to (wire.md §8.2, §8.4).
import { type ContentPart, isInlineImage, type Message, type ToolCall } from "../../domain/chat-request.ts";
import type { Markable } from "./cache-marks.ts";
import { isObject, readJson } from "../http/json.ts";
import { type PlacedBlock, returnedBlocks, type ThinkingBlock } from "./kept-thinking.ts";
import { CallIds, plainName } from "./tool-names.ts";
import { withThoughts } from "../thoughts-in-text.ts";

export type Block =
  | ({ type: "text"; text: string } & Markable)
  | ({ type: "image"; source: ImageSource } & Markable)
  | { type: "tool_use"; id: string; name: string; input: Record<string, unknown> }
  | { type: "tool_result"; tool_use_id: string; content?: Block[] }
  | ThinkingBlock;

type ImageSource = { type: "base64"; media_type: string; data: string } | { type: "url"; url: string };

export interface Turn {
  role: "user" | "assistant";
  content: Block[];
}

export interface Conversation {
  system: Block[];
  turns: Turn[];
  /** The running round of tools began without the thoughts that led to it: some models may not think in it then. */
  lost: boolean;
  /** Names of all tools that were called. */
  called: ReadonlySet<string>;
}

/** The vendor's conversations begin and end with the user. */
const OPENING = "Begin.";
const CLOSING = "Continue.";

/** System messages in front go on top; later ones stay where they stand (docs/decisions/0040-claude-in-its-own-shape.md). */
export function conversationOf(messages: readonly Message[]): Conversation {
  const first = messages.findIndex(({ role }) => role !== "system" && role !== "developer");
  const leading = first === -1 ? messages.length : first;
  const system = messages.slice(0, leading).flatMap(({ content }) => textBlocks(content));
  return { system, ...turnsOf(messages.slice(leading)) };
}

function turnsOf(messages: readonly Message[]): Omit<Conversation, "system"> {
  const turns: Turn[] = [];
  const results = resultsOf(messages);
  const ids = new CallIds();
  const called = new Set<string>();
  for (const [index, message] of messages.entries()) {
    if (message.role === "tool") continue; // stands behind its call
    if (message.role !== "assistant") {
      add(
        turns,
        "user",
        message.role === "user" ? userBlocks(message.content) : placedSystem(message.content),
      );
      continue;
    }
    const calls = (message.tool_calls ?? []).map((call, at) => ({
      call,
      id: ids.next(call.id),
      results: results.get(`${index} ${at}`) ?? [],
    }));
    for (const { call } of calls) called.add(plainName(call.function.name));
    add(turns, "assistant", assistantBlocks(message, calls));
    add(turns, "user", calls.map(resultBlock));
  }
  const lost = roundWithoutThoughts(turns);
  if (turns[0]?.role === "assistant")
    turns.unshift({ role: "user", content: [{ type: "text", text: OPENING }] });
  if (turns.at(-1)?.role === "assistant") add(turns, "user", [{ type: "text", text: CLOSING }]);
  return { turns, lost, called };
}

function add(turns: Turn[], role: Turn["role"], content: Block[]): void {
  if (content.length === 0) return;
  const last = turns.at(-1);
  if (last?.role !== role) turns.push({ role, content });
  else for (const block of content) last.content.push(block);
}

/** What the tools said, by the place of the message that called and of the call in it; an id may have been used before. */
function resultsOf(messages: readonly Message[]): ReadonlyMap<string, Message[]> {
  const results = new Map<string, Message[]>();
  const latest = new Map<string, string>();
  for (const [index, message] of messages.entries()) {
    for (const [at, { id }] of (message.tool_calls ?? []).entries()) latest.set(id, `${index} ${at}`);
    const place = latest.get(message.tool_call_id ?? "");
    if (place === undefined) continue;
    const known = results.get(place);
    if (known === undefined) results.set(place, [message]);
    else known.push(message);
  }
  return results;
}

interface Called {
  call: ToolCall;
  id: string;
  results: Message[];
}

function resultBlock({ id, results }: Called): Block {
  const content = results.flatMap((result) => textBlocks(result.content));
  return { type: "tool_result", tool_use_id: id, ...(content.length > 0 && { content }) };
}

/** Text and thoughts in the order in which they were said, each thought in front of its call. */
function assistantBlocks(message: Message, calls: readonly Called[]): Block[] {
  const text = textBlocks(message.content);
  if (message.refusal !== undefined) text.push(...textBlocks(message.refusal));
  if (calls.length === 0) return text;
  const thoughts = calls.map(({ call }) => returnedBlocks(call.extra_content) ?? []);
  const before = mixed(text, thoughts[0] ?? []);
  return calls.flatMap(({ call, id }, at): Block[] => [
    ...(at === 0 ? before : (thoughts[at] ?? []).map(({ block }) => block)),
    { type: "tool_use", id, name: plainName(call.function.name), input: inputOf(call.function.arguments) },
  ]);
}

/** Thoughts where they stood in the text. */
function mixed(text: Block[], placed: readonly PlacedBlock[]): Block[] {
  const [only, ...more] = text;
  if (only?.type !== "text" || more.length > 0) return [...placed.map(({ block }) => block), ...text];
  return withThoughts<Block>(only.text, placed, (piece) => ({ type: "text", text: piece }));
}

/** Arguments are text on our side: what is no object there was written by a model that failed, and is shown as it is. */
function inputOf(text: string): Record<string, unknown> {
  if (text.trim() === "") return {};
  const value = readJson(text);
  return isObject(value) ? value : { arguments: text };
}

/** True where the first message of calls since the user last spoke has no thought in front of them. */
function roundWithoutThoughts(turns: readonly Turn[]): boolean {
  const asked = turns.findLastIndex(
    ({ role, content }) => role === "user" && content.every(({ type }) => type !== "tool_result"),
  );
  const first = turns.slice(asked + 1).find(({ content }) => content.some(({ type }) => type === "tool_use"));
  return first !== undefined && first.content.every(({ type }) => !type.endsWith("thinking"));
}

/** No block without text: the vendor refuses it. */
const textBlock = (text: string, mark: Markable = {}): Block[] =>
  text.trim() === "" ? [] : [{ type: "text", text, ...mark }];

const markOf = ({ cache_control: mark }: Markable): Markable =>
  mark === undefined ? {} : { cache_control: mark };

function textBlocks(content: Message["content"]): Block[] {
  if (content === null) return [];
  if (typeof content === "string") return textBlock(content);
  return content.flatMap((part) =>
    part.type === "text"
      ? textBlock(part.text, markOf(part))
      : part.type === "refusal"
        ? textBlock(part.refusal)
        : [],
  );
}

/** The word of whoever runs the conversation, in the middle of it. */
function placedSystem(content: Message["content"]): Block[] {
  const text = textBlocks(content).flatMap((block) => (block.type === "text" ? [block.text] : []));
  return text.length === 0 ? [] : [{ type: "text", text: `<system>\n${text.join("\n\n")}\n</system>` }];
}

const userBlocks = (content: Message["content"]): Block[] =>
  Array.isArray(content) ? content.flatMap(userBlock) : textBlocks(content);

const userBlock = (part: ContentPart): Block[] =>
  part.type === "image_url"
    ? [{ type: "image", source: sourceOf(part.image_url.url), ...markOf(part) }]
    : textBlocks([part]);

const INLINE = /^data:([^;,]+)[^,]*,/i;

function sourceOf(url: string): ImageSource {
  if (!isInlineImage(url)) return { type: "url", url };
  const [head = "", type = ""] = INLINE.exec(url.slice(0, 300)) ?? [];
  const media_type = type.toLowerCase() === "image/jpg" ? "image/jpeg" : type.toLowerCase();
  return { type: "base64", media_type, data: url.slice(head.length) };
}
