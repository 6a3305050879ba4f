// A provider of this shape at an address, and the pieces of its bodies.
import type { ChatRequest, Message, ToolCall } from "../../domain/chat-request.ts";
import { providerOver } from "../http/http.fixtures.ts";
import { callDraft, chatRequest } from "../openai/openai.fixtures.ts";
import type { CallDraft, OutgoingBody, Provider } from "../provider.ts";
import { converseCodec } from "./codec.ts";
import { converseBody, type ConverseDialect } from "./request-body.ts";
import { printedText } from "../printed-text.fixtures.ts";

const PLAIN: ConverseDialect = { family: null, guardrail: null };

export const bedrockAt = (baseUrl: string, dialect: Partial<ConverseDialect> = {}): Provider =>
  providerOver(
    converseCodec({ ...PLAIN, ...dialect, authorize: () => ({ authorization: "Bearer key-of-bedrock" }) }),
    baseUrl,
    { probePath: null },
  );

interface How extends Partial<CallDraft> {
  model?: string;
  dialect?: Partial<ConverseDialect>;
}

const { release } = callDraft();

const prepared = (
  request: Partial<ChatRequest> = {},
  { model = "amazon.nova-pro-v1:0", dialect, ...draft }: How = {},
): OutgoingBody =>
  converseBody(
    callDraft({
      request: chatRequest(request),
      ...draft,
      release: { ...(draft.release ?? release), upstreamModel: model },
    }),
    { ...PLAIN, ...dialect },
  );

const bodyOf = (request: Partial<ChatRequest> = {}, how: How = {}, ceiling = 4096): Record<string, unknown> =>
  JSON.parse(printedText(prepared(request, how), ceiling)) as Record<string, unknown>;

const user = (content: Message["content"]): Message => ({ role: "user", content });
const called = (...calls: ToolCall[]): Message => ({
  role: "assistant",
  content: null,
  tool_calls: calls,
});
const call = (id: string, extra_content?: Record<string, unknown>): ToolCall => ({
  id,
  type: "function",
  function: { name: "weather", arguments: '{"city":"Oslo"}' },
  ...(extra_content && { extra_content }),
});
const result = (tool_call_id: string, content = "rain"): Message => ({
  role: "tool",
  content,
  tool_call_id,
});
const signed = (signature: string, by = "claude", after = "0"): Record<string, unknown> => ({
  bedrock: { by, reasoning: [{ text: "Hm.", signature, after }] },
});
const thought = (signature: string): object => ({
  reasoningContent: { reasoningText: { text: "Hm.", signature } },
});
const use = (toolUseId: string): object => ({
  toolUse: { toolUseId, name: "weather", input: { city: "Oslo" } },
});
const answer = (toolUseId: string, text = "rain"): object => ({
  toolResult: { toolUseId, content: [{ text }] },
});
const tools: ChatRequest["tools"] = [
  {
    type: "function",
    function: { name: "weather", description: "Where?", parameters: { properties: {} }, strict: true },
  },
  { type: "function", function: { name: "clock" } },
];

/** For the tests of what is sent upstream. */
export const said = { prepared, bodyOf, user, called, call, result, signed, thought, use, answer, tools };
