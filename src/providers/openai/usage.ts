// Usage as providers of the OpenAI shape report it → the figures that are metered (wire.md §8.2). Where the total is
// not prompt + completion, the larger completion stands: either hidden reasoning was left out of it, or the total is
// wrong. What of that may be believed is decided by the quote and by what was delivered, not here.
import { NO_CLASSES, serviceTierOf } from "../../domain/token-classes.ts";
import { isObject } from "../http/json.ts";
import type { ProviderUsage } from "../provider.ts";

/**
 * Null when there is no usable figure in it: then the gateway counts by its own evidence. `serviceTier`: as the reply, not
 * its usage, names it.
 */
export function readUsage(value: unknown, serviceTier: unknown = null): ProviderUsage | null {
  if (!isObject(value)) return null;
  const total = count(value["total_tokens"]);
  const reported = count(value["completion_tokens"]);
  const promptTokens = count(value["prompt_tokens"]) ?? difference(total, reported);
  if (promptTokens === null) return null;
  const left = difference(total, promptTokens);
  if (left === null && reported === null) return null;
  const completionTokens = Math.max(left ?? 0, reported ?? 0);
  const cached =
    count(inside(value["prompt_tokens_details"], "cached_tokens")) ??
    count(value["prompt_cache_hit_tokens"]) ??
    count(value["cached_tokens"]);
  const reasoning =
    count(inside(value["completion_tokens_details"], "reasoning_tokens")) ?? count(value["reasoning_tokens"]);
  return {
    promptTokens,
    completionTokens,
    ...NO_CLASSES,
    cachedTokens: cached === null ? null : Math.min(cached, promptTokens),
    reasoningTokens: reasoning === null ? null : Math.min(reasoning, completionTokens),
    serviceTier: serviceTierOf(serviceTier),
  };
}

/** `total − part`; null when one is missing or the total is smaller, so that it cannot be one. */
function difference(total: number | null, part: number | null): number | null {
  return total === null || part === null || total < part ? null : total - part;
}

const inside = (details: unknown, name: string): unknown => (isObject(details) ? details[name] : null);

function count(value: unknown): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : null;
}
