// Which of a caller's cache marks go upstream. Writing to the vendor's cache costs more than reading a prompt, so a mark goes
// where the release publishes what it costs: nobody writes at the operator's expense.
import type { CacheMark } from "../../domain/chat-request.ts";
import type { Release } from "../../domain/release.ts";

export interface Markable {
  cache_control?: CacheMark;
}

/** The vendor takes no more of them in one call. */
const MARKS_MAX = 4;

/** The mark of a part, for what is made of it. */
export const markOf = ({ cache_control: mark }: Markable): Markable =>
  mark === undefined ? {} : { cache_control: mark };

/** Of the pieces of one text the last has its mark, which says where it ends. */
export function markEnd(pieces: readonly Markable[]): void {
  for (const piece of pieces.slice(0, -1)) delete piece.cache_control;
}

/**
 * Takes away, in place, what is not priced and all but the last ones; `places` in the order in which the vendor reads them.
 * `hour`: the model keeps something for an hour. Behind a mark of five minutes the vendor refuses one of an hour: it gets five.
 */
export function settleMarks(
  places: readonly Markable[],
  { price }: Pick<Release, "price">,
  { hour }: { hour: boolean } = { hour: true },
): void {
  const marked = places.filter(({ cache_control: mark }) => mark !== undefined);
  const spare = price.cacheWrite === undefined ? marked.length : Math.max(0, marked.length - MARKS_MAX);
  for (const place of marked.slice(0, spare)) delete place.cache_control;
  let hourly = hour && price.cacheWrite1h !== undefined;
  for (const place of marked.slice(spare)) {
    hourly &&= place.cache_control?.ttl === "1h";
    place.cache_control = { type: "ephemeral", ...(hourly && { ttl: "1h" }) };
  }
}
