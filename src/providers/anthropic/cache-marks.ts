// Decides which of a caller's cache marks are sent. Writing to the vendor's cache costs more than reading a prompt,
// so a mark is sent only if the release publishes what it costs: nobody writes at the operator's expense.
import type { CacheMark } from "../../domain/chat-request.ts";
import type { Release } from "../../domain/release.ts";

export interface Markable {
  cache_control?: CacheMark;
}

/** The vendor's maximum in one call. */
const MARKS_MAX = 4;

/** Returns the mark of a part, for what is made from it. */
export const markOf = ({ cache_control: mark }: Markable): Markable =>
  mark === undefined ? {} : { cache_control: mark };

/** If a text becomes several pieces, only the last keeps the mark, which says where the text ends. */
export function markEnd(pieces: readonly Markable[]): void {
  for (const piece of pieces.slice(0, -1)) delete piece.cache_control;
}

/**
 * Removes, in place, the marks that are not priced and all but the last ones; `places` are in the order in which the
 * vendor reads them. `hour`: the model can cache for an hour. After a mark of five minutes the vendor rejects one of
 * an hour: it becomes five minutes.
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
