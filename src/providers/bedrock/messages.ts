// One of our conversations in Converse's form: its blocks, none of them an empty text (wire.md §8.2, §8.4).
import type { ContentPart, Message } from "../../domain/chat-request.ts";
import { isInlineImage } from "../../domain/chat-request.ts";
import { refuse } from "../../domain/read-value.ts";
import { NO_ARGUMENTS } from "../../domain/tool-arguments.ts";
import { type Markable, markEnd, markOf } from "../anthropic/cache-marks.ts";
import { documentOf, type DocumentBlock, namedApart } from "./documents.ts";
import { plainName } from "../call-ids.ts";
import { textBlocksOf } from "../text-blocks.ts";
import {
  argumentsOf,
  type Blocks,
  inOrder,
  OPENING,
  type AlternatingTurns,
  type Turn,
  turnsOf,
} from "../turns.ts";
import { type ReasoningBlock, returnedReasoning } from "./kept-reasoning.ts";

type TextBlock = { text: string } & Markable;

/** Cache marks stay on their blocks until it is known which of them are sent. */
export type ConverseBlock = Markable &
  (
    | { text: string }
    | { image: { format: string; source: { bytes: string } } }
    | { document: DocumentBlock }
    | { toolUse: { toolUseId: string; name: string; input: Record<string, unknown> } }
    | { toolResult: { toolUseId: string; content: { text: string }[]; status?: "error" } }
    | {
        reasoningContent:
          | { reasoningText: { text: string; signature: string } }
          | { redactedContent: string };
      }
  );

export interface ConverseMessages extends AlternatingTurns<ConverseBlock> {
  system: TextBlock[];
}

interface How {
  /**
   * True if tools may be called. If not, the API rejects earlier calls in the conversation, so they are sent as text.
   */
  tools: boolean;
  /** The issuer whose reasoning is sent back. */
  signer: string;
}

/** Stands in for an empty tool result: the API accepts no blank text. */
const NOTHING = "(empty)";

/** The families whose models can be told that a tool failed; for others the API rejects the field. */
const KNOW_ERRORS = /^claude$|amazon\.nova/;

/** The text sent beside documents that came without any. */
const ATTACHED = "(attached)";

/**
 * System messages go on top, wherever they were. Throws `Refusal` for an image or a file that the API does not accept.
 */
export function converseMessages(messages: readonly Message[], how: How): ConverseMessages {
  const system = messages.filter(isSystem).flatMap(({ content }) => textBlocks(content));
  const rest = messages.filter((message) => !isSystem(message));
  const { turns, lost } = turnsOf(rest, how.tools ? blocksOf(how.signer) : TOLD);
  settleDocuments(turns);
  if (turns.length === 0) turns.push({ role: "user", content: [{ text: OPENING }] });
  return { system, turns, lost };
}

/** The API requires that document names are unique in a request, and that a message with documents has a text. */
function settleDocuments(turns: readonly Turn<ConverseBlock>[]): void {
  const taken = new Set<string>();
  for (const { content } of turns) {
    const documents = content.filter((block) => "document" in block);
    for (const block of documents) block.document = namedApart(block.document, taken);
    if (documents.length > 0 && !content.some((block) => "text" in block)) content.push({ text: ATTACHED });
  }
}

const isSystem = ({ role }: Message): boolean => role === "system" || role === "developer";

const blocksOf = (signer: string): Blocks<ConverseBlock> => ({
  heard: ({ content }) => userBlocks(content),
  said(message, calls) {
    const texts = spoken(message);
    const blocks = inOrder<ConverseBlock, TextBlock>(
      texts,
      calls.map(({ call, id }) => ({
        block: { toolUse: { toolUseId: id, name: plainName(call.function.name), input: argumentsOf(call) } },
        thoughts: (returnedReasoning(call.extra_content, signer) ?? []).map(({ block, after }) => ({
          block: reasoningBlock(block),
          after,
        })),
      })),
    );
    if (texts.length === 1) markEnd(blocks.filter((block) => "text" in block));
    return blocks;
  },
  result({ id, results }) {
    const texts = results.flatMap((result) => textBlocks(result.content));
    const content = texts.map(({ text }) => ({ text }));
    return {
      toolResult: {
        toolUseId: id,
        content: content.length > 0 ? content : [{ text: NOTHING }],
        ...(KNOW_ERRORS.test(signer) && results.some(({ failed }) => failed) && { status: "error" }),
      },
      ...markOf(texts.findLast(({ cache_control: mark }) => mark !== undefined) ?? {}),
    };
  },
  text: (text) => ({ text }),
  role: (block) =>
    "reasoningContent" in block
      ? "thought"
      : "toolUse" in block
        ? "call"
        : "toolResult" in block
          ? "result"
          : null,
});

/** Calls and their results as text. */
const TOLD: Blocks<ConverseBlock> = {
  ...blocksOf(""),
  said: (message, calls) => [
    ...spoken(message),
    ...calls.map(({ call: { function: tool } }) => ({
      text: `[Called ${tool.name} with ${tool.arguments.trim() === "" ? NO_ARGUMENTS : tool.arguments}]`,
    })),
  ],
  result({ call, results }) {
    const said = results.flatMap(({ content }) => textBlocks(content).map(({ text }) => text)).join("\n");
    return { text: `[Result of ${call.function.name}: ${said === "" ? NOTHING : said}]` };
  },
};

const spoken = ({ content, refusal }: Message): TextBlock[] => [
  ...textBlocks(content),
  ...textBlocks(refusal ?? null),
];

const reasoningBlock = (block: ReasoningBlock): ConverseBlock => ({
  reasoningContent: "redacted" in block ? { redactedContent: block.redacted } : { reasoningText: block },
});

const textBlock = (text: string, mark: Markable): TextBlock => ({ text, ...mark });

const textBlocks = (content: Message["content"]): TextBlock[] => textBlocksOf(content, textBlock);

const userBlocks = (content: Message["content"]): ConverseBlock[] =>
  Array.isArray(content) ? content.flatMap(userBlock) : textBlocks(content);

function userBlock(part: ContentPart): ConverseBlock[] {
  if (part.type === "image_url") return [{ image: imageOf(part.image_url.url), ...markOf(part) }];
  return part.type === "file" ? [{ document: documentOf(part.file), ...markOf(part) }] : textBlocks([part]);
}

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
    throw refuse(
      "unsupported_value",
      null,
      "messages",
      "holds an image that is not a PNG, JPEG, GIF or WebP.",
    );
  return { format: type.toLowerCase().replace("jpg", "jpeg"), source: { bytes: url.slice(head.length) } };
}
