// Bodies and conversations for the tests of what is sent upstream in this shape.
import type { ChatRequest, Message, ToolCall } from "../../domain/chat-request.ts";
import { callDraft, chatRequest } from "../openai/openai.fixtures.ts";
import type { CallDraft, OutgoingBody } from "../provider.ts";
import { claudeBody, type ClaudeDialect } from "./request-body.ts";
import { printedText } from "../printed-text.fixtures.ts";

const CEILING = 4096;
export const DIRECT: ClaudeDialect = {
  contract: {},
  versionInBody: null,
  dropsUnbound: true,
  host: "direct",
  systemTurns: true,
};
export const { release } = callDraft();

export interface How extends Partial<CallDraft> {
  model?: string;
  dialect?: Partial<ClaudeDialect>;
}

export const prepared = (
  request: Partial<ChatRequest> = {},
  { model, dialect, ...draft }: How = {},
): OutgoingBody =>
  claudeBody(
    callDraft({
      request: chatRequest(request),
      release: { ...release, upstreamModel: model ?? "claude-sonnet-4-5" },
      ...draft,
    }),
    { ...DIRECT, ...dialect },
  );

export const sentBody = (
  request: Partial<ChatRequest> = {},
  how: How = {},
  ceiling = CEILING,
): Record<string, unknown> =>
  JSON.parse(printedText(prepared(request, how), ceiling)) as Record<string, unknown>;

export const asks = (content: Message["content"]): Message => ({ role: "user", content });
export const called = (...calls: ToolCall[]): Message => ({
  role: "assistant",
  content: null,
  tool_calls: calls,
});
export const toolCall = (
  id: string,
  extra_content?: Record<string, unknown>,
  text = '{"city":"Oslo"}',
): ToolCall => ({
  id,
  type: "function",
  function: { name: "weather", arguments: text },
  ...(extra_content && { extra_content }),
});
export const result = (tool_call_id: string, content = "rain"): Message => ({
  role: "tool",
  content,
  tool_call_id,
});
export const signed = (signature: string, after = "0"): Record<string, unknown> => ({
  anthropic: { thinking: [{ type: "thinking", thinking: "Hm.", signature, after }] },
});
export const THOUGHT = { type: "thinking", thinking: "Hm.", signature: "sig" };
export const use = (id: string): object => ({
  type: "tool_use",
  id,
  name: "weather",
  input: { city: "Oslo" },
});
export const answer = (id: string, text = "rain"): object => ({
  type: "tool_result",
  tool_use_id: id,
  content: [{ type: "text", text }],
});
export const says = (text: string): object => ({ type: "text", text });
export const tools: ChatRequest["tools"] = [
  {
    type: "function",
    function: { name: "weather", description: "Where?", parameters: { properties: {} }, strict: true },
  },
  { type: "function", function: { name: "clock" } },
];
