// Converts usage as Converse reports it to the metered figures (wire.md §8.2): its input excludes what a cache gave
// or took.
import { isJsonObject } from "../../domain/read-value.ts";
import { NO_CLASSES, serviceTierOf } from "../../domain/token-classes.ts";
import type { ProviderUsage } from "../provider.ts";

/** Returns null if it has no usable figure. `tier` is the response's service tier. */
export function converseUsage(value: unknown, tier: unknown): ProviderUsage | null {
  if (!isJsonObject(value)) return null;
  const input = count(value["inputTokens"]);
  const output = count(value["outputTokens"]);
  if (input === null) return null;
  const read = count(value["cacheReadInputTokens"]) ?? count(value["cacheReadInputTokenCount"]);
  const written = count(value["cacheWriteInputTokens"]) ?? count(value["cacheWriteInputTokenCount"]);
  const promptTokens = input + (read ?? 0) + (written ?? 0);
  if (!Number.isSafeInteger(promptTokens)) return null;
  const total = count(value["totalTokens"]);
  const left = total === null || total < promptTokens ? null : total - promptTokens;
  if (left === null && output === null) return null;
  return {
    ...NO_CLASSES,
    promptTokens,
    completionTokens: Math.max(left ?? 0, output ?? 0),
    cachedTokens: read,
    cacheWriteTokens: written,
    cacheWrite1hTokens: written === null ? null : hourly(value["cacheDetails"], written),
    serviceTier: serviceTierOf(isJsonObject(tier) ? tier["type"] : tier),
  };
}

/** Returns the part of the written tokens that lives for an hour; null if no lifetimes are reported. */
function hourly(details: unknown, written: number): number | null {
  if (!Array.isArray(details)) return null;
  const told = details.filter(isJsonObject).filter(({ ttl }) => ttl === "1h");
  return Math.min(
    told.reduce((sum, { inputTokens }) => sum + (count(inputTokens) ?? 0), 0),
    written,
  );
}

function count(value: unknown): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : null;
}
