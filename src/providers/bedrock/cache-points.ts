// A caller's cache marks in Converse's form: a block of its own after what is marked. A model's name tells whether
// it caches: one that does not rejects the block.
import type { CacheMark } from "../../domain/chat-request.ts";
import type { Release } from "../../domain/release.ts";
import { type Markable, settleMarks } from "../anthropic/cache-marks.ts";
import { claudeVersion } from "../anthropic/contracts.ts";
import type { Family } from "./families.ts";

export interface CachePoint {
  cachePoint: { type: "default"; ttl?: CacheMark["ttl"] };
}

/** What a model caches. */
interface Keeps {
  /** True if it also caches tools and their results; otherwise only instructions and the conversation. */
  tools: boolean;
  /** True if it can cache for an hour on request. */
  hour: boolean;
}

/** Claude models from before there was a cache. */
const UNCACHED = /claude-(?:instant|v?2|3-(?:opus|sonnet|haiku)|3-5-sonnet-20240620)/i;
const HOUR_SINCE = 4.5;

/**
 * Returns null if the model caches nothing. For an inference profile, whose name is free, the provider's settings
 * tell the family.
 */
export function keptBy(upstreamModel: string, family: Family): Keeps | null {
  if (/amazon\.nova/i.test(upstreamModel) || family === "nova") return { tools: false, hour: false };
  if (family !== "claude" || UNCACHED.test(upstreamModel)) return null;
  return { tools: true, hour: (claudeVersion(upstreamModel) ?? 0) >= HOUR_SINCE };
}

interface Marked {
  tools: readonly Markable[];
  /** Instructions and conversation, in the order in which the vendor reads them after the tools. */
  said: readonly Markable[];
}

/** Removes, in place, the marks that the model or the release does not support; returns true if there were any. */
export function settlePoints(
  { tools, said }: Marked,
  release: Pick<Release, "price">,
  keeps: Keeps | null,
): boolean {
  const places = [...tools, ...said].filter(({ cache_control: mark }) => mark !== undefined);
  const isOfTools = (one: Markable): boolean => "toolSpec" in one || "toolResult" in one;
  const unkept = places.filter((one) => keeps === null || (!keeps.tools && isOfTools(one)));
  for (const one of unkept) delete one.cache_control;
  settleMarks(places, release, { hour: keeps?.hour ?? false });
  return unkept.length > 0 || (places.length > 0 && release.price.cacheWrite === undefined);
}

/** Adds each mark as a block after the one that was marked. */
export const withPoints = <Block extends object>(
  blocks: readonly (Block & Markable)[],
): (Block | CachePoint)[] =>
  blocks.flatMap((marked): (Block | CachePoint)[] => {
    if (marked.cache_control === undefined) return [marked];
    const { cache_control: mark, ...block } = marked;
    return [
      block as unknown as Block,
      { cachePoint: { type: "default", ...(mark.ttl && { ttl: mark.ttl }) } },
    ];
  });

/** The name of a mark in `x-gw-ignored-parameters`. */
export const MARK = "cache_control";
