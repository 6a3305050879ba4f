// Converts usage as providers of the OpenAI shape report it to the metered figures (wire.md §8.2). If the total is
// not prompt + completion, the larger completion counts: either it lacks hidden reasoning, or the total is wrong. How
// much of it is believed is decided by the quote and by what was delivered, not here.
import { isJsonObject } from "../../domain/read-value.ts";
import { serviceTierOf } from "../../domain/token-classes.ts";
import type { ProviderUsage } from "../provider.ts";

/**
 * Returns null if it has no usable figure: the gateway then counts by its own evidence. `serviceTier` is the one of
 * the response, not of its usage.
 */
export function readUsage(value: unknown, serviceTier: unknown = null): ProviderUsage | null {
  if (!isJsonObject(value)) return null;
  const total = count(value["total_tokens"]);
  const reported = count(value["completion_tokens"]);
  const promptTokens = count(value["prompt_tokens"]) ?? difference(total, reported);
  if (promptTokens === null) return null;
  const rest = difference(total, promptTokens);
  if (rest === null && reported === null) return null;
  const completionTokens = Math.max(rest ?? 0, reported ?? 0);
  const prompt = value["prompt_tokens_details"];
  const completion = value["completion_tokens_details"];
  const cached =
    count(inside(prompt, "cached_tokens")) ??
    count(value["prompt_cache_hit_tokens"]) ??
    count(value["cached_tokens"]);
  const written = count(inside(prompt, "cache_write_tokens"));
  const reasoning = count(inside(completion, "reasoning_tokens")) ?? count(value["reasoning_tokens"]);
  // Audio has a price of its own, so it is cut last.
  const spoken = atMost(count(inside(completion, "audio_tokens")), completionTokens);
  // Each class is cut to what the classes before it leave: a cached image is counted as cached, as it is priced.
  const cachedTokens = atMost(cached, promptTokens);
  let left = promptTokens - (cachedTokens ?? 0);
  const cacheWriteTokens = atMost(written, left);
  left -= cacheWriteTokens ?? 0;
  const audioInputTokens = atMost(count(inside(prompt, "audio_tokens")), left);
  left -= audioInputTokens ?? 0;
  return {
    promptTokens,
    completionTokens,
    cachedTokens,
    cacheWriteTokens,
    cacheWrite1hTokens: null,
    audioInputTokens,
    imageInputTokens: atMost(count(inside(prompt, "image_tokens")), left),
    reasoningTokens: atMost(reasoning, completionTokens - (spoken ?? 0)),
    audioOutputTokens: spoken,
    calls: callsOf(value),
    serviceTier: serviceTierOf(serviceTier),
  };
}

/** Returns the searches billed per call, as OpenRouter and Perplexity report them. */
const callsOf = (usage: Record<string, unknown>): number | null =>
  count(inside(usage["server_tool_use"], "web_search_requests")) ?? count(usage["num_search_queries"]);

const atMost = (told: number | null, most: number): number | null =>
  told === null ? null : Math.min(told, most);

/** Returns `total − part`; null if one is missing, or if the total is smaller and so is not one. */
function difference(total: number | null, part: number | null): number | null {
  return total === null || part === null || total < part ? null : total - part;
}

const inside = (details: unknown, name: string): unknown => (isJsonObject(details) ? details[name] : null);

function count(value: unknown): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : null;
}
