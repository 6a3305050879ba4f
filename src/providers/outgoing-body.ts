// The body that goes upstream in the OpenAI shape (wire.md §1 actions F, §8.1): built from validated fields only, never
// copied from the caller. The output ceiling is always in it, so generation cannot outrun the hold.
import type { ChatRequest, Message, ToolCall } from "../contract/chat-request.ts";
import type { ProviderCall } from "./provider.ts";

export interface BodyOptions {
  /** The provider's name: the key under which its own state comes back (wire.md §8.4). */
  family: string;
  ceilingField: "max_completion_tokens" | "max_tokens";
}

/** The JSON text of one upstream call. */
export function outgoingBody(call: ProviderCall, { family, ceilingField }: BodyOptions): string {
  const { request, release } = call;
  const { parallel_tool_calls: parallel, ...forwarded } = request.forwarded;
  const thinks = call.reasoningEffort !== null && call.reasoningEffort !== "none";
  return JSON.stringify({
    model: release.upstreamModel,
    messages: request.messages.map((message) => outgoingMessage(message, { family, thinks })),
    ...forwarded,
    ...call.identifiers,
    ...(request.tools.length > 0 && toolFields(request, parallel)),
    ...sampling(call),
    ...(request.responseFormat !== null && { response_format: request.responseFormat }),
    ...(request.stream && { stream: true, stream_options: { include_usage: true } }),
    [ceilingField]: call.outputCeiling,
  });
}

/** Only beside tools: upstreams refuse a choice, or a word on parallel calls, where there are none. */
function toolFields({ tools, toolChoice }: ChatRequest, parallel: boolean | undefined): object {
  return {
    tools,
    ...(toolChoice !== null && { tool_choice: toolChoice }),
    ...(parallel !== undefined && { parallel_tool_calls: parallel }),
  };
}

function sampling({ request, reasoningEffort, temperature }: ProviderCall): object {
  return {
    ...(temperature !== null && { temperature }),
    ...(reasoningEffort !== null && { reasoning_effort: reasoningEffort }),
    ...(request.n > 1 && { n: request.n }),
    ...(request.stop.length > 0 && { stop: request.stop }),
    ...(request.logprobs && { logprobs: true }),
    ...(request.topLogprobs !== null && { top_logprobs: request.topLogprobs }),
    ...(request.logitBias !== null && { logit_bias: request.logitBias }),
  };
}

/** Reasoning returns on tool turns only: thinking upstreams demand it there, older ones refuse it elsewhere (§1.2). */
function outgoingMessage(
  message: Message,
  { family, thinks }: { family: string; thinks: boolean },
): Record<string, unknown> {
  const { tool_calls: calls, reasoning_content: reasoning, ...rest } = message;
  if (calls === undefined) return rest;
  return {
    ...rest,
    ...(thinks && reasoning !== undefined && { reasoning_content: reasoning }),
    tool_calls: calls.map((call) => outgoingCall(call, family)),
  };
}

/** Provider state goes back only to the provider that it names. */
function outgoingCall(
  { id, type, function: called, extra_content: extra }: ToolCall,
  family: string,
): object {
  const own = extra !== undefined && Object.hasOwn(extra, family) ? extra[family] : undefined;
  return { id, type, function: called, ...(own !== undefined && { extra_content: own }) };
}
