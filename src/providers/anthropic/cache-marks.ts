// Which of a caller's cache marks go upstream. Writing to the vendor's cache costs more than reading a prompt, so a mark goes
// where the release publishes what it costs: nobody writes at the operator's expense.
import type { CacheMark } from "../../domain/chat-request.ts";
import type { Release } from "../../domain/release.ts";

export interface Markable {
  cache_control?: CacheMark;
}

/** The vendor takes no more of them in one call. */
const MARKS_MAX = 4;

/** Takes away, in place, what is not priced and all but the last ones; `places` in the order in which the vendor reads them. */
export function settleMarks(places: readonly Markable[], { price }: Pick<Release, "price">): void {
  const marked = places.filter(({ cache_control: mark }) => mark !== undefined);
  const spare = price.cacheWrite === undefined ? marked.length : Math.max(0, marked.length - MARKS_MAX);
  for (const place of marked.slice(0, spare)) delete place.cache_control;
  if (price.cacheWrite1h !== undefined) return;
  for (const place of marked.slice(spare)) place.cache_control = { type: "ephemeral" };
}
