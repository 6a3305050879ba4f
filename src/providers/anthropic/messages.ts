// One of our conversations in the vendor's form: its blocks, none of them an empty text (wire.md §8.2, §8.4).
import { type ContentPart, isInlineImage, type Message } from "../../domain/chat-request.ts";
import { type Markable, markEnd, markOf } from "./cache-marks.ts";
import { pdfBytes } from "../../domain/inline-pdf.ts";
import { plainName } from "../call-ids.ts";
import { textBlocksOf } from "../text-blocks.ts";
import { argumentsOf, type Blocks, inOrder, type AlternatingTurns, turnsOf } from "../turns.ts";
import { returnedBlocks, type ThinkingBlock } from "./kept-thinking.ts";

type TextBlock = { type: "text"; text: string } & Markable;

export type Block =
  | TextBlock
  | ({ type: "image"; source: ImageSource } & Markable)
  | ({ type: "document"; source: InlineSource; title: string } & Markable)
  | { type: "tool_use"; id: string; name: string; input: Record<string, unknown> }
  | { type: "tool_result"; tool_use_id: string; content?: Block[]; is_error?: true }
  | ThinkingBlock;

type InlineSource = { type: "base64"; media_type: string; data: string };
type ImageSource = InlineSource | { type: "url"; url: string };

export interface Conversation extends AlternatingTurns<Block> {
  system: Block[];
  /** Names of all tools that were called. */
  called: ReadonlySet<string>;
}

/**
 * Leading system messages become `system`; later ones keep their place
 * (docs/decisions/0040-claude-in-its-own-shape.md).
 */
export function conversationOf(messages: readonly Message[]): Conversation {
  const first = messages.findIndex(({ role }) => role !== "system" && role !== "developer");
  const leading = first === -1 ? messages.length : first;
  const system = messages.slice(0, leading).flatMap(({ content }) => textBlocks(content));
  const calls = messages.flatMap(({ tool_calls }) => tool_calls ?? []);
  return {
    system,
    ...turnsOf(messages.slice(leading), BLOCKS),
    called: new Set(calls.map((call) => plainName(call.function.name))),
  };
}

const BLOCKS: Blocks<Block> = {
  heard: ({ role, content }) => (role === "user" ? userBlocks(content) : placedSystem(content)),
  said({ content, refusal }, calls) {
    const texts = [...textBlocks(content), ...textBlocks(refusal ?? null)];
    const blocks = inOrder<Block, TextBlock>(
      texts,
      calls.map(({ call, id }) => ({
        block: { type: "tool_use", id, name: plainName(call.function.name), input: argumentsOf(call) },
        thoughts: returnedBlocks(call.extra_content) ?? [],
      })),
    );
    if (texts.length === 1) markEnd(blocks.filter((block) => block.type === "text"));
    return blocks;
  },
  result({ id, results }) {
    const content = results.flatMap((result) => textBlocks(result.content));
    return {
      type: "tool_result",
      tool_use_id: id,
      ...(content.length > 0 && { content }),
      ...(results.some(({ failed }) => failed) && { is_error: true }),
    };
  },
  text: (text) => ({ type: "text", text }),
  role: ({ type }) => ROLES[type] ?? null,
};

const ROLES: Partial<Record<Block["type"], "thought" | "call" | "result">> = {
  thinking: "thought",
  redacted_thinking: "thought",
  tool_use: "call",
  tool_result: "result",
};

const textBlock = (text: string, mark: Markable): TextBlock => ({ type: "text", text, ...mark });

const textBlocks = (content: Message["content"]): TextBlock[] => textBlocksOf(content, textBlock);

/** A system message within the conversation. */
function placedSystem(content: Message["content"]): Block[] {
  const text = textBlocks(content).map((block) => block.text);
  return text.length === 0 ? [] : [{ type: "text", text: `<system>\n${text.join("\n\n")}\n</system>` }];
}

const userBlocks = (content: Message["content"]): Block[] =>
  Array.isArray(content) ? content.flatMap(userBlock) : textBlocks(content);

function userBlock(part: ContentPart): Block[] {
  if (part.type === "image_url")
    return [{ type: "image", source: sourceOf(part.image_url.url), ...markOf(part) }];
  if (part.type !== "file") return textBlocks([part]);
  const source = { type: "base64" as const, media_type: "application/pdf", data: pdfBytes(part.file) };
  return [{ type: "document", source, title: part.file.filename, ...markOf(part) }];
}

const INLINE = /^data:([^;,]+)[^,]*,/i;

function sourceOf(url: string): ImageSource {
  if (!isInlineImage(url)) return { type: "url", url };
  const [head = "", type = ""] = INLINE.exec(url.slice(0, 300)) ?? [];
  const media_type = type.toLowerCase() === "image/jpg" ? "image/jpeg" : type.toLowerCase();
  return { type: "base64", media_type, data: url.slice(head.length) };
}
