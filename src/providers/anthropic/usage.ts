// Converts usage as the vendor reports it to the metered figures (wire.md §8.2). Tokens read from and written to
// caches are not part of `input_tokens`; the end of a stream corrects its beginning field by field.
import { isJsonObject, isPresent } from "../../domain/read-value.ts";
import { serviceTierOf } from "../../domain/token-classes.ts";
import type { ProviderUsage } from "../provider.ts";

/** The figures that are read; anything else an upstream reports, perhaps under ever new names, is not kept. */
const FIGURES = ["input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"];
/** Members of which one figure is read. */
const WITHIN: readonly [member: string, figure: string][] = [
  ["cache_creation", "ephemeral_1h_input_tokens"],
  ["server_tool_use", "web_search_requests"],
  ["output_tokens_details", "thinking_tokens"],
];

/** The usage of one answer, reported repeatedly, each time as far as it is known. */
export class ClaudeUsage {
  private readonly told: Record<string, unknown> = {};

  /**
   * Returns what was reported so far, with what this adds or replaces; null if it has no usable figure: the gateway
   * then counts itself.
   */
  tell(usage: unknown): ProviderUsage | null {
    if (!isJsonObject(usage)) return null;
    const { told } = this;
    for (const name of FIGURES) if (isPresent(usage[name])) told[name] = count(usage[name]);
    for (const [name, figure] of WITHIN)
      if (isPresent(usage[name])) told[name] = { [figure]: within(usage[name], figure) };
    if (isPresent(usage["service_tier"])) told["service_tier"] = serviceTierOf(usage["service_tier"]);
    return usageOf(told);
  }
}

function usageOf(told: Record<string, unknown>): ProviderUsage | null {
  const { cache_creation: created, server_tool_use: tools, output_tokens_details: details } = told;
  const fresh = count(told["input_tokens"]);
  const completionTokens = count(told["output_tokens"]);
  if (fresh === null || completionTokens === null) return null;
  const cachedTokens = count(told["cache_read_input_tokens"]);
  const cacheWriteTokens = count(told["cache_creation_input_tokens"]);
  const hourly = within(created, "ephemeral_1h_input_tokens");
  const reasoning = within(details, "thinking_tokens");
  const promptTokens = fresh + (cachedTokens ?? 0) + (cacheWriteTokens ?? 0);
  if (!Number.isSafeInteger(promptTokens)) return null;
  return {
    promptTokens,
    completionTokens,
    cachedTokens,
    cacheWriteTokens,
    cacheWrite1hTokens: hourly === null ? null : Math.min(hourly, cacheWriteTokens ?? 0),
    audioInputTokens: null,
    imageInputTokens: null,
    reasoningTokens: reasoning === null ? null : Math.min(reasoning, completionTokens),
    audioOutputTokens: null,
    calls: within(tools, "web_search_requests"),
    serviceTier: serviceTierOf(told["service_tier"]),
  };
}

const within = (part: unknown, name: string): number | null =>
  isJsonObject(part) ? count(part[name]) : null;

const count = (value: unknown): number | null =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : null;
