// Token counts with a release's own tokenizer, for the two cases that need them: the byte bound refused (money.md §6),
// or a provider said nothing about usage. Counting happens on another thread; nothing here delays the loop.
import type { ChatRequest, ContentPart, Message } from "../contract/chat-request.ts";
import type { Release, TokenizerName } from "../contract/release.ts";
import { promptBound, promptOverhead } from "./quote.ts";
import { TokenCounter } from "./token-counter.ts";

const counter = new TokenCounter();

/** Tokens of the texts together, as one running text; for the tokenizer `bytes`, their UTF-8 bytes. */
export async function countTokens(texts: readonly string[], tokenizer: TokenizerName): Promise<number> {
  const text = texts.join("");
  if (tokenizer === "bytes") return Buffer.byteLength(text);
  const tokens = await counter.count(text, tokenizer);
  if (tokens === null) throw new Error("a count without a time limit ran out of time");
  return tokens;
}

/**
 * Prompt tokens of a request on a release: its texts counted, everything around them at the flat overheads of the
 * prompt bound, and never more than that bound. Where counting takes longer than `timeLimitMs`, the bound itself.
 */
export async function promptTokens(
  request: ChatRequest,
  release: Pick<Release, "tokenizer" | "imageTokensMax">,
  timeLimitMs?: number,
): Promise<number> {
  const bound = promptBound(request.promptSize, release.imageTokensMax);
  if (release.tokenizer === "bytes") return bound;
  const tokens = await counter.count(promptText(request), release.tokenizer, timeLimitMs);
  if (tokens === null) return bound;
  return Math.min(bound, tokens + promptOverhead(request.promptSize, release.imageTokensMax));
}

/** Ends the counting thread; the next count starts a new one. */
export const stopCounting = (): void => counter.stop();

/** Everything that reaches the model as text: the same strings whose bytes `measurePrompt` added up. */
function promptText({ messages, tools, responseFormat }: ChatRequest): string {
  const texts = messages.flatMap(messageTexts);
  if (tools.length > 0) texts.push(JSON.stringify(tools));
  if (responseFormat?.type === "json_schema") texts.push(JSON.stringify(responseFormat.json_schema));
  return texts.join("");
}

function messageTexts(message: Message): string[] {
  const { content, name = "", refusal = "", reasoning_content = "", tool_calls = [] } = message;
  const texts = typeof content === "string" ? [content] : (content ?? []).map(partText);
  texts.push(name, refusal, reasoning_content);
  for (const call of tool_calls) {
    texts.push(call.function.name, call.function.arguments);
    if (call.extra_content !== undefined) texts.push(JSON.stringify(call.extra_content));
  }
  return texts;
}

function partText(part: ContentPart): string {
  switch (part.type) {
    case "text":
      return part.text;
    case "refusal":
      return part.refusal;
    case "image_url":
      return "";
  }
}
