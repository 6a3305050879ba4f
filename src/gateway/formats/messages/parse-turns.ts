// The conversation of a Messages body as neutral messages: tool results are separate from what the user said, calls are attached to
// what the model said, and other vendors' thoughts are dropped (surfaces.md §4).
import type { ContentPart, Message, ToolCall } from "../../../domain/chat-request.ts";
import {
  echo,
  found,
  invalid,
  isJsonObject,
  isPresent,
  type JsonObject,
  type Place,
  readArray,
  readBoolean,
  readBoundedString,
  readChoice,
  readObject,
  readString,
} from "../../../domain/read-value.ts";
import { blocksOf, marked, readablePart, type ReadablePart, resultParts, textPart } from "./parse-blocks.ts";
import { stateIn, UNSIGNED } from "../../../domain/carried-state.ts";

type At = NonNullable<Place>;
const MESSAGES: Place = { parent: null, step: "messages" };
const MAX_LENGTH = { id: 512, name: 256 };
/** Text by which the vendor's client reports about itself to the vendor, in front of the prompt; not sent to other models. */
const BILLING_HEADER = /^x-anthropic-billing-header:/;

/** `system`: a text or text blocks, as leading messages. */
export function readSystem(value: unknown): Message[] {
  if (typeof value === "string") return value === "" ? [] : [{ role: "system", content: value }];
  const parts = blocksOf(value, null, "system").map(({ block, at }) => onlyText(block, at));
  const said = parts.filter((part) => part.type !== "text" || !BILLING_HEADER.test(part.text));
  return said.length === 0 ? [] : [{ role: "system", content: plainest(said) }];
}

/** `messages`: at least one; each call is answered, and each answer belongs to a call. */
export function readTurns(value: unknown): Message[] {
  const items = readArray(value, null, "messages");
  if (items.length === 0) throw invalid(null, "messages", "must contain at least one message.");
  const calls = new Calls();
  const messages = items.flatMap((item, index) => turnOf(item, { parent: MESSAGES, step: index }, calls));
  calls.requireAnswers();
  return messages;
}

function turnOf(value: unknown, at: At, calls: Calls): Message[] {
  if (!isJsonObject(value)) throw invalid(at.parent, at.step, `must be an object, ${found(value)}.`);
  const role = readChoice(value.role, ["user", "assistant", "system"], at, "role");
  const { content } = value;
  if (role === "system" && !isPresent(content)) return []; // it only changed settings
  if (typeof content === "string") return [{ role, content }];
  if (!Array.isArray(content))
    throw invalid(at, "content", `must be a string or an array of blocks, ${found(content)}.`);
  const blocks = blocksOf(content, at, "content");
  if (role === "assistant") return said(blocks, calls);
  if (role === "user") return heard(blocks, calls);
  const parts = blocks.filter(({ block }) => !isToolChange(block)).map((one) => onlyText(one.block, one.at));
  return parts.length === 0 ? [] : [{ role, content: plainest(parts) }];
}

/** From here on a tool of `tools` is offered, or no longer offered: only the vendor's models are told. */
const isToolChange = ({ type, tool }: JsonObject): boolean =>
  (type === "tool_addition" || type === "tool_removal") &&
  isJsonObject(tool) &&
  tool.type === "tool_reference";

/**
 * Removes the settings of single turns: a call has one effort for all turns, matched with the release's modes. Returns
 * the same list if there are none.
 */
export function withoutOwnSettings(messages: unknown): unknown {
  const isSet = (message: unknown): message is JsonObject =>
    isJsonObject(message) && message.role === "system" && isPresent(message["output_config"]);
  if (!Array.isArray(messages) || !messages.some(isSet)) return messages;
  return messages.flatMap((message: unknown) => {
    if (!isSet(message)) return [message];
    const { output_config: _settings, ...said } = message;
    return isPresent(said["content"]) ? [said] : [];
  });
}

type Placed = ReturnType<typeof blocksOf>;

/** Tool results, one message each, then what the user said; images and files from tools become the user's. */
function heard(blocks: Placed, calls: Calls): Message[] {
  const results: Message[] = [];
  const rest: ReadablePart[] = [];
  for (const { block, at } of blocks) {
    if (block.type !== "tool_result") {
      for (const part of readablePart(block, at)) rest.push(part);
      continue;
    }
    const id = readId(block["tool_use_id"], at, "tool_use_id");
    calls.answer(id, at);
    const failed = isPresent(block["is_error"]) && readBoolean(block["is_error"], at, "is_error");
    const parts = marked(resultParts(block["content"], at), block);
    const content = plainest(parts.filter(isText), "\n");
    results.push({ role: "tool", content, tool_call_id: id, ...(failed && { failed }) });
    for (const part of parts) if (!isText(part)) rest.push(part);
  }
  return rest.length === 0 ? results : [...results, { role: "user", content: plainest(rest) }];
}

/** One message of the model: its text, its calls, and the thoughts that may be shown to it again. */
function said(blocks: Placed, calls: Calls): Message[] {
  const texts: ContentPart[] = [];
  const called: ToolCall[] = [];
  let reasoning = "";
  let state: Record<string, unknown> | null = null;
  for (const { block, at } of blocks)
    switch (readString(block.type, at, "type")) {
      case "text":
        texts.push(textPart(block, at));
        break;
      case "thinking":
        if (block["signature"] === UNSIGNED) reasoning += readString(block["thinking"], at, "thinking");
        break;
      case "redacted_thinking":
        state = stateIn(block["data"]) ?? state;
        break;
      case "tool_use":
        called.push({ ...callOf(block, at, calls), ...(state !== null && { extra_content: state }) });
        state = null;
        break;
      default: // results of the vendor's own tools: not shown to other models
    }
  if (texts.length === 0 && called.length === 0) return [];
  return [
    {
      role: "assistant",
      content: texts.length === 0 ? null : plainest(texts, ""),
      ...(called.length > 0 && { tool_calls: called }),
      ...(reasoning !== "" && { reasoning_content: reasoning }),
    },
  ];
}

function callOf(block: JsonObject, at: At, calls: Calls): ToolCall {
  const id = readId(block["id"], at, "id");
  const name = readBoundedString(block["name"], at, "name", MAX_LENGTH.name);
  if (name === "") throw invalid(at, "name", "must not be empty.");
  calls.open(id, at);
  const input = readObject(block["input"], at, "input");
  return { id, type: "function", function: { name, arguments: JSON.stringify(input) } };
}

function readId(value: unknown, at: Place, step: string): string {
  const id = readBoundedString(value, at, step, MAX_LENGTH.id);
  if (id === "") throw invalid(at, step, "must not be empty.");
  return id;
}

function onlyText(block: JsonObject, at: At): ContentPart {
  readChoice(block.type, ["text"], at, "type");
  return textPart(block, at);
}

const isText = ({ type }: ContentPart): boolean => type === "text";

/** A plain string if possible: some upstreams do not support parts. */
function plainest(parts: readonly ContentPart[], between = "\n\n"): string | ContentPart[] {
  const plain = parts.every((part) => part.type === "text" && part.cache_control === undefined);
  return plain ? parts.map((part) => (part.type === "text" ? part.text : "")).join(between) : [...parts];
}

/** The calls of a conversation: opened by the model's block, closed by the answer that names them. */
class Calls {
  private readonly waiting = new Map<string, At>();
  private readonly made = new Set<string>();

  open(id: string, at: At): void {
    this.waiting.set(id, at);
    this.made.add(id);
  }

  answer(id: string, at: At): void {
    if (!this.made.has(id))
      throw invalid(at, "tool_use_id", `names ${echo(id)}, but no \`tool_use\` before it has that \`id\`.`);
    this.waiting.delete(id);
  }

  requireAnswers(): void {
    for (const [id, at] of this.waiting)
      throw invalid(at, "id", `calls tool ${echo(id)}, but no \`tool_result\` after it answers. Add one.`);
  }
}
