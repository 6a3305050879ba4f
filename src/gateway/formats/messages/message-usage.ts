// `usage` in the vendor's form: tokens read from caches and written to them are in addition to `input_tokens`, not part of it.
import type { TokenUsage } from "../../../ledger/records.ts";

/** Tokens as integers; a class that was not reported is left out, except for the four that clients read. */
export function usageOfMessage(usage: TokenUsage): Record<string, unknown> {
  const { promptTokens, completionTokens, reasoningTokens } = usage;
  const read = usage.cachedTokens ?? 0;
  const written = usage.cacheWriteTokens ?? 0;
  const hourly = Math.min(usage.cacheWrite1hTokens ?? 0, written);
  return {
    input_tokens: Math.max(0, promptTokens - read - written),
    cache_creation_input_tokens: written,
    cache_read_input_tokens: read,
    ...(written > 0 && {
      cache_creation: { ephemeral_5m_input_tokens: written - hourly, ephemeral_1h_input_tokens: hourly },
    }),
    output_tokens: completionTokens,
    ...(reasoningTokens !== null && { output_tokens_details: { thinking_tokens: reasoningTokens } }),
    ...(usage.calls ? { server_tool_use: { web_search_requests: usage.calls } } : {}),
  };
}
