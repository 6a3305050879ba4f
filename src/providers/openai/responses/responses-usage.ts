// Usage of the Responses shape: the figures of chat completions under other names (wire.md §8.2).
import { isJsonObject } from "../../../domain/read-value.ts";
import type { ProviderUsage } from "../../provider.ts";
import { readUsage } from "../usage.ts";

/** Returns null if it has no usable figure. `response` has figures that usage lacks. */
export function readResponsesUsage(
  usage: unknown,
  response: Record<string, unknown> = {},
): ProviderUsage | null {
  if (!isJsonObject(usage)) return null;
  const { input_tokens, output_tokens, total_tokens, input_tokens_details, output_tokens_details } = usage;
  const told = readUsage(
    {
      prompt_tokens: input_tokens,
      completion_tokens: output_tokens,
      total_tokens,
      prompt_tokens_details: input_tokens_details,
      completion_tokens_details: output_tokens_details,
    },
    response["service_tier"],
  );
  return told === null ? null : { ...told, calls: searchesIn(response["tool_usage"]) };
}

/** Returns the searches that the provider made unasked. */
function searchesIn(used: unknown): number | null {
  const searches =
    isJsonObject(used) && isJsonObject(used["web_search"]) ? used["web_search"]["num_requests"] : null;
  return typeof searches === "number" && Number.isSafeInteger(searches) && searches >= 0 ? searches : null;
}
