// A conversation of ours as Converse takes it: roles that alternate, no empty text, every result in the message behind its calls
// and in front of all else, reasoning in front of the calls that it led to (wire.md §8.2, §8.4).
import type { ContentPart, Message, ToolCall } from "../../domain/chat-request.ts";
import { isInlineImage } from "../../domain/chat-request.ts";
import { refuse } from "../../domain/read-value.ts";
import { CallIds, plainName } from "../anthropic/tool-names.ts";
import { isObject, readJson } from "../http/json.ts";
import { type PlacedReasoning, type ReasoningBlock, returnedReasoning } from "./kept-reasoning.ts";
import { withThoughts } from "../thoughts-in-text.ts";

export type ConverseBlock =
  | { text: string }
  | { image: { format: string; source: { bytes: string } } }
  | { toolUse: { toolUseId: string; name: string; input: Record<string, unknown> } }
  | { toolResult: { toolUseId: string; content: { text: string }[] } }
  | {
      reasoningContent: { reasoningText: { text: string; signature: string } } | { redactedContent: string };
    };

export interface ConverseTurn {
  role: "user" | "assistant";
  content: ConverseBlock[];
}

export interface ConverseMessages {
  system: { text: string }[];
  turns: ConverseTurn[];
  /** The running round of tools began without the reasoning that led to it. */
  lost: boolean;
}

interface How {
  /** Tools may be called: where none may, the API refuses calls of before, which are told as text. */
  tools: boolean;
  /** Whose reasoning goes back. */
  signer: string;
}

/** Conversations of the API begin and end with the user, and no text of it is blank. */
const OPENING = "Begin.";
const CLOSING = "Continue.";
const NOTHING = "(empty)";

/** System messages go on top, wherever they stood. Throws `Refusal` for an image that the API does not take. */
export function converseMessages(messages: readonly Message[], how: How): ConverseMessages {
  const system = messages.filter(isSystem).flatMap(({ content }) => textBlocks(content));
  const rest = messages.filter((message) => !isSystem(message));
  const turns = turnsOf(rest, how);
  const lost = roundWithoutReasoning(turns);
  if (turns[0]?.role !== "user") turns.unshift({ role: "user", content: [{ text: OPENING }] });
  if (turns.at(-1)?.role === "assistant") add(turns, "user", [{ text: CLOSING }]);
  return { system, turns, lost };
}

const isSystem = ({ role }: Message): boolean => role === "system" || role === "developer";

function turnsOf(messages: readonly Message[], how: How): ConverseTurn[] {
  const turns: ConverseTurn[] = [];
  const results = resultsOf(messages);
  const ids = new CallIds();
  for (const [index, message] of messages.entries()) {
    if (message.role === "tool") continue; // stands behind its call
    if (message.role === "user") {
      add(turns, "user", userBlocks(message.content));
      continue;
    }
    const calls = (message.tool_calls ?? []).map((call, at) => ({
      call,
      id: ids.next(call.id),
      results: results.get(`${index} ${at}`) ?? [],
    }));
    add(
      turns,
      "assistant",
      how.tools ? assistantBlocks(message, calls, how.signer) : toldCalls(message, calls),
    );
    add(turns, "user", calls.map(how.tools ? resultBlock : toldResult));
  }
  return turns;
}

function add(turns: ConverseTurn[], role: ConverseTurn["role"], content: ConverseBlock[]): void {
  if (content.length === 0) return;
  const last = turns.at(-1);
  if (last?.role !== role) turns.push({ role, content });
  else for (const block of content) last.content.push(block); // spread, a million of them end the stack
}

/** What the tools said, by the place of the message that called and of the call in it; an id may have been used before. */
function resultsOf(messages: readonly Message[]): ReadonlyMap<string, Message[]> {
  const results = new Map<string, Message[]>();
  const latest = new Map<string, string>();
  for (const [index, message] of messages.entries()) {
    for (const [at, { id }] of (message.tool_calls ?? []).entries()) latest.set(id, `${index} ${at}`);
    const place = latest.get(message.tool_call_id ?? "");
    if (place === undefined) continue;
    const found = results.get(place);
    if (found === undefined) results.set(place, [message]);
    else found.push(message);
  }
  return results;
}

interface Called {
  call: ToolCall;
  id: string;
  results: Message[];
}

function resultBlock({ id, results }: Called): ConverseBlock {
  const content = results.flatMap((result) => textBlocks(result.content));
  return { toolResult: { toolUseId: id, content: content.length > 0 ? content : [{ text: NOTHING }] } };
}

const toldResult = ({ call, results }: Called): ConverseBlock => {
  const said = results.flatMap(({ content }) => textBlocks(content).map(({ text }) => text)).join("\n");
  return { text: `[Result of ${call.function.name}: ${said === "" ? NOTHING : said}]` };
};

const toldCalls = (message: Message, calls: readonly Called[]): ConverseBlock[] => [
  ...spoken(message),
  ...calls.map(({ call: { function: tool } }) => ({
    text: `[Called ${tool.name} with ${tool.arguments.trim() === "" ? "{}" : tool.arguments}]`,
  })),
];

function spoken({ content, refusal }: Message): { text: string }[] {
  return [...textBlocks(content), ...textBlocks(refusal ?? null)];
}

/** Text and reasoning in the order in which they were said, reasoning in front of its call. */
function assistantBlocks(message: Message, calls: readonly Called[], signer: string): ConverseBlock[] {
  const text = spoken(message);
  if (calls.length === 0) return text;
  const reasoning = calls.map(({ call }) => returnedReasoning(call.extra_content, signer) ?? []);
  return calls.flatMap(({ call, id }, at): ConverseBlock[] => [
    ...(at === 0
      ? mixed(text, reasoning[0] ?? [])
      : (reasoning[at] ?? []).map(({ block }) => reasoningBlock(block))),
    {
      toolUse: {
        toolUseId: id,
        name: plainName(call.function.name),
        input: inputOf(call.function.arguments),
      },
    },
  ]);
}

const reasoningBlock = (block: ReasoningBlock): ConverseBlock => ({
  reasoningContent: "redacted" in block ? { redactedContent: block.redacted } : { reasoningText: block },
});

/** Reasoning where it stood in the text. */
function mixed(text: { text: string }[], placed: readonly PlacedReasoning[]): ConverseBlock[] {
  const [only, ...more] = text;
  if (only === undefined || more.length > 0)
    return [...placed.map(({ block }) => reasoningBlock(block)), ...text];
  const thoughts = placed.map(({ block, after }) => ({ block: reasoningBlock(block), after }));
  return withThoughts<ConverseBlock>(only.text, thoughts, (piece) => ({ text: piece }));
}

/** Arguments are text on our side: what is no object there was written by a model that failed, and is shown as it is. */
function inputOf(text: string): Record<string, unknown> {
  if (text.trim() === "") return {};
  const value = readJson(text);
  return isObject(value) ? value : { arguments: text };
}

/** True where the first message of calls since the user last spoke has no reasoning in front of them. */
function roundWithoutReasoning(turns: readonly ConverseTurn[]): boolean {
  const asked = turns.findLastIndex(
    ({ role, content }) => role === "user" && content.every((block) => !("toolResult" in block)),
  );
  const first = turns.slice(asked + 1).find(({ content }) => content.some((block) => "toolUse" in block));
  return first !== undefined && first.content.every((block) => !("reasoningContent" in block));
}

const textBlock = (text: string): { text: string }[] => (text.trim() === "" ? [] : [{ text }]);

function textBlocks(content: Message["content"]): { text: string }[] {
  if (content === null) return [];
  if (typeof content === "string") return textBlock(content);
  return content.flatMap((part) =>
    part.type === "text" ? textBlock(part.text) : part.type === "refusal" ? textBlock(part.refusal) : [],
  );
}

const userBlocks = (content: Message["content"]): ConverseBlock[] =>
  Array.isArray(content) ? content.flatMap(userBlock) : textBlocks(content);

const userBlock = (part: ContentPart): ConverseBlock[] =>
  part.type === "image_url" ? [{ image: imageOf(part.image_url.url) }] : textBlocks([part]);

const INLINE = /^data:image\/(png|jpe?g|gif|webp)(?:;[^,]*)?;base64,/i;

function imageOf(url: string): { format: string; source: { bytes: string } } {
  if (!isInlineImage(url))
    throw refuse(
      "unsupported_value",
      null,
      "messages",
      "holds an image's address: this model takes images inline.",
    );
  const [head, type = ""] = INLINE.exec(url.slice(0, 300)) ?? [];
  if (head === undefined)
    throw refuse("unsupported_value", null, "messages", "holds an image that is no PNG, JPEG, GIF or WebP.");
  return { format: type.toLowerCase().replace("jpg", "jpeg"), source: { bytes: url.slice(head.length) } };
}
