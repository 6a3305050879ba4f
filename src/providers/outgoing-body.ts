// The body that goes upstream in the OpenAI shape (wire.md §1 actions F, §8.1): built from validated fields only, never
// copied from the caller. The output ceiling is always in it, so generation cannot outrun the hold.
import type { ChatRequest, ContentPart, Message } from "../contract/chat-request.ts";
import type { ProviderCall } from "./provider.ts";

/** The JSON text of one upstream call. */
export function outgoingBody(call: ProviderCall): string {
  const { request, release } = call;
  return JSON.stringify({
    model: release.upstreamModel,
    messages: request.messages.map(outgoingMessage),
    max_completion_tokens: call.outputCeiling,
    ...request.forwarded,
    ...call.identifiers,
    ...toolFields(request),
    ...sampling(call),
    ...(request.responseFormat !== null && { response_format: request.responseFormat }),
    ...(request.stream && { stream: true, stream_options: { include_usage: true } }),
  });
}

function toolFields({ tools, toolChoice }: ChatRequest): object {
  return {
    ...(tools.length > 0 && { tools }),
    ...(toolChoice !== null && { tool_choice: toolChoice }),
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

/** Provider state (`extra_content`) goes back only to the family that it names (wire.md §1.2). */
function outgoingMessage(message: Message): object {
  const { tool_calls: calls, content, ...rest } = message;
  return {
    ...rest,
    content: content === null || typeof content === "string" ? content : content.map(outgoingPart),
    ...(calls !== undefined && {
      tool_calls: calls.map(({ id, type, function: called }) => ({ id, type, function: called })),
    }),
  };
}

const outgoingPart = (part: ContentPart): object => part;
