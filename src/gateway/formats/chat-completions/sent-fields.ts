// Which fields of a chat completion go upstream as their caller wrote them (wire.md §8.3).
import type { ChatRequest } from "../../../domain/chat-request.ts";

/** The caller's name for a field by the provider's name for it. */
export function sentFields(request: ChatRequest): ReadonlyMap<string, string> {
  const names = ["messages", ...Object.keys(request.forwarded), ...Object.keys(request.applied)];
  if (request.tools.length > 0) names.push("tools");
  if (request.toolChoice !== null) names.push("tool_choice");
  if (request.responseFormat !== null) names.push("response_format");
  if (request.reasoning?.kind === "effort") names.push("reasoning_effort");
  if (request.n > 1) names.push("n");
  if (request.temperature !== null) names.push("temperature");
  if (request.stop.length > 0) names.push("stop");
  const ceiling = request.maxTokens === null ? [] : ["max_tokens", "max_completion_tokens"];
  return new Map([
    ["system", "messages"],
    ...names.map((name) => [name, name] as const),
    ...ceiling.map((name) => [name, "max_tokens"] as const),
  ]);
}
