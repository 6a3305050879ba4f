// Converts usage as Gemini reports it to the metered figures (wire.md §8.2). It is cumulative in each event, so the
// last one counts; figures of zero are absent. Thoughts are separate from the candidates, prompts of Gemini's own
// tools from ours.
import { isJsonObject } from "../../domain/read-value.ts";
import { serviceTierOf } from "../../domain/token-classes.ts";
import type { ProviderUsage } from "../provider.ts";

/** Returns null without a prompt figure: the gateway then counts by its own evidence. `calls`: paid searches. */
export function geminiUsage(value: unknown, calls: number | null = null): ProviderUsage | null {
  if (!isJsonObject(value)) return null;
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
  const { audio, image } = inputClasses(value, promptTokens - (cachedTokens ?? 0));
  const spoken = kindsIn(value["candidatesTokensDetails"], { audio: null, image: null }).audio;
  return {
    promptTokens,
    completionTokens,
    cachedTokens,
    cacheWriteTokens: null, // written automatically, at no price of its own
    cacheWrite1hTokens: null,
    audioInputTokens: audio,
    imageInputTokens: image,
    reasoningTokens: thoughts === null ? null : Math.min(thoughts, completionTokens),
    audioOutputTokens: within(completionTokens - (thoughts ?? 0), spoken),
    calls,
    serviceTier: serviceTierOf(value["serviceTier"]) ?? tierOfTraffic(value["trafficType"]),
  };
}

/** Tokens of audio and of images; null if no list reports any. */
interface Kinds {
  audio: number | null;
  image: number | null;
}

/** Returns the audio and image tokens that were not cached; cached tokens are only counted as cached. */
function inputClasses(value: Record<string, unknown>, uncached: number): Kinds {
  const told = kindsIn(value["promptTokensDetails"], { audio: null, image: null });
  kindsIn(value["toolUsePromptTokensDetails"], told);
  if (told.audio === null && told.image === null) return told;
  const cached = kindsIn(value["cacheTokensDetails"], { audio: null, image: null });
  const audio = within(uncached, less(told.audio, cached.audio));
  return { audio, image: within(uncached - (audio ?? 0), less(told.image, cached.image)) };
}

const less = (figure: number | null, part: number | null): number | null =>
  figure === null ? null : figure - (part ?? 0);

const within = (most: number, figure: number | null): number | null =>
  figure === null ? null : Math.max(0, Math.min(figure, most));

/** Adds the figures of a list; an entry without a figure adds none. Pages of a document are read as images. */
function kindsIn(list: unknown, kinds: Kinds): Kinds {
  if (!Array.isArray(list)) return kinds;
  for (const one of list as unknown[]) {
    if (!isJsonObject(one)) continue;
    const { modality } = one;
    if (modality === "AUDIO") kinds.audio = (kinds.audio ?? 0) + (count(one["tokenCount"]) ?? 0);
    else if (modality === "IMAGE" || modality === "DOCUMENT")
      kinds.image = (kinds.image ?? 0) + (count(one["tokenCount"]) ?? 0);
  }
  return kinds;
}

/** Vertex names the traffic type of a call: `ON_DEMAND_FLEX`, `ON_DEMAND_PRIORITY`, `ON_DEMAND_OFFPEAK`. */
const tierOfTraffic = (traffic: unknown): string | null =>
  typeof traffic === "string" ? serviceTierOf(/^ON_DEMAND_([A-Z]+)$/.exec(traffic)?.[1]) : null;

const count = (value: unknown): number | null =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : null;
