// Usage as providers of the OpenAI shape report it → the figures that are metered (wire.md §8.2). Where the total is
// not prompt + completion, the completion is what is left of the total: hidden reasoning was left out.
import type { ProviderUsage } from "./provider.ts";

/** Null when there is no usable figure in it. */
export function readUsage(value: unknown): ProviderUsage | null {
  if (!isObject(value)) return null;
  const promptTokens = count(value["prompt_tokens"]);
  const reported = count(value["completion_tokens"]);
  if (promptTokens === null || reported === null) return null;
  const total = count(value["total_tokens"]);
  const completionTokens =
    total === null || total < promptTokens + reported ? reported : total - promptTokens;
  const promptDetails = isObject(value["prompt_tokens_details"]) ? value["prompt_tokens_details"] : {};
  const details = isObject(value["completion_tokens_details"]) ? value["completion_tokens_details"] : {};
  const cached =
    count(promptDetails["cached_tokens"]) ??
    count(value["prompt_cache_hit_tokens"]) ??
    count(value["cached_tokens"]);
  const reasoning = count(details["reasoning_tokens"]) ?? count(value["reasoning_tokens"]);
  return {
    promptTokens,
    completionTokens,
    cachedTokens: cached === null ? null : Math.min(cached, promptTokens),
    reasoningTokens: reasoning === null ? null : Math.min(reasoning, completionTokens),
  };
}

function count(value: unknown): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
