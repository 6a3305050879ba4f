// A caller's cache marks in the words of Converse: a block of its own behind what is marked. Which models keep what is read off
// their names: one that keeps nothing refuses the word.
import type { CacheMark } from "../../domain/chat-request.ts";
import type { Release } from "../../domain/release.ts";
import { type Markable, settleMarks } from "../anthropic/cache-marks.ts";
import { claudeVersion } from "../anthropic/contracts.ts";
import type { Family } from "./families.ts";

export interface CachePoint {
  cachePoint: { type: "default"; ttl?: CacheMark["ttl"] };
}

/** What a model keeps. */
interface Keeps {
  /** Tools and their results too; else instructions and what is said. */
  tools: boolean;
  /** For an hour, where that is asked for. */
  hour: boolean;
}

/** Claude before there was a cache. */
const UNCACHED = /claude-(?:instant|v?2|3-(?:opus|sonnet|haiku)|3-5-sonnet-20240620)/i;
const HOUR_SINCE = 4.5;

/** Null: nothing. Of an inference profile whose name is nobody's, the provider's settings tell the family. */
export function keptBy(upstreamModel: string, family: Family): Keeps | null {
  if (/amazon\.nova/i.test(upstreamModel) || family === "nova") return { tools: false, hour: false };
  if (family !== "claude" || UNCACHED.test(upstreamModel)) return null;
  return { tools: true, hour: (claudeVersion(upstreamModel) ?? 0) >= HOUR_SINCE };
}

interface Marked {
  tools: readonly Markable[];
  /** Instructions and conversation, as the vendor reads them behind the tools. */
  said: readonly Markable[];
}

/** Takes away, in place, the marks that the model or the release has no place for; true where there were such. */
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

/** Each mark as the block that follows what was marked. */
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

/** What `x-gw-ignored-parameters` calls a mark. */
export const MARK = "cache_control";
