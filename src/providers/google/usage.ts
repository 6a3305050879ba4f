// Usage as Gemini reports it → the figures that are metered (wire.md §8.2): cumulative in each event, so that the last one
// counts; figures of zero are left out of it. Thoughts stand beside the candidates, prompts of its own tools beside ours.
import { serviceTierOf } from "../../domain/token-classes.ts";
import { isObject } from "../http/json.ts";
import type { ProviderUsage } from "../provider.ts";

/** Null when there is no figure of a prompt in it: then the gateway counts by its own evidence. `calls`: paid searches. */
export function geminiUsage(value: unknown, calls: number | null = null): ProviderUsage | null {
  if (!isObject(value)) return null;
  const asked = count(value["promptTokenCount"]);
  if (asked === null) return null;
  const promptTokens = asked + (count(value["toolUsePromptTokenCount"]) ?? 0);
  const thoughts = count(value["thoughtsTokenCount"]);
  const told = (count(value["candidatesTokenCount"]) ?? 0) + (thoughts ?? 0);
  const total = count(value["totalTokenCount"]) ?? 0;
  const completionTokens = Math.max(told, total - promptTokens);
  if (!Number.isSafeInteger(promptTokens) || !Number.isSafeInteger(completionTokens)) return null;
  const cached = count(value["cachedContentTokenCount"]);
  const cachedTokens = cached === null ? null : Math.min(cached, promptTokens);
  return {
    promptTokens,
    completionTokens,
    cachedTokens,
    cacheWriteTokens: null, // written by itself, at no price of its own
    cacheWrite1hTokens: null,
    ...inputClasses(value, promptTokens - (cachedTokens ?? 0)),
    reasoningTokens: thoughts === null ? null : Math.min(thoughts, completionTokens),
    audioOutputTokens: within(completionTokens - (thoughts ?? 0), ofKind(value, OUTPUT, AUDIO)),
    calls,
    serviceTier: serviceTierOf(value["serviceTier"]) ?? tierOfTraffic(value["trafficType"]),
  };
}

const INPUT = ["promptTokensDetails", "toolUsePromptTokensDetails"];
const CACHED = ["cacheTokensDetails"];
const OUTPUT = ["candidatesTokensDetails"];
const AUDIO = ["AUDIO"];
/** The pages of a document are read as images. */
const IMAGE = ["IMAGE", "DOCUMENT"];

/** What of sound and images was not cached: who knows that a token was counts it there only. */
function inputClasses(
  value: Record<string, unknown>,
  uncached: number,
): Pick<ProviderUsage, "audioInputTokens" | "imageInputTokens"> {
  const fresh = (kinds: readonly string[]): number | null => {
    const all = ofKind(value, INPUT, kinds);
    return all === null ? null : Math.max(0, all - (ofKind(value, CACHED, kinds) ?? 0));
  };
  const audioInputTokens = within(uncached, fresh(AUDIO));
  const imageInputTokens = within(uncached - (audioInputTokens ?? 0), fresh(IMAGE));
  return { audioInputTokens, imageInputTokens };
}

const within = (most: number, figure: number | null): number | null =>
  figure === null ? null : Math.max(0, Math.min(figure, most));

/** Null where no list tells of such tokens; one without a figure tells of none. */
function ofKind(
  value: Record<string, unknown>,
  lists: readonly string[],
  kinds: readonly string[],
): number | null {
  let sum: number | null = null;
  for (const name of lists) {
    const list = value[name];
    for (const one of Array.isArray(list) ? (list as unknown[]) : [])
      if (isObject(one) && kinds.includes(String(one["modality"])))
        sum = (sum ?? 0) + (count(one["tokenCount"]) ?? 0);
  }
  return sum;
}

/** Vertex names how a call was carried: `ON_DEMAND_FLEX`, `ON_DEMAND_PRIORITY`. */
const tierOfTraffic = (traffic: unknown): string | null =>
  serviceTierOf(/^ON_DEMAND_(FLEX|PRIORITY)$/.exec(String(traffic))?.[1]);

const count = (value: unknown): number | null =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : null;
