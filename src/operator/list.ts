// Pages of lists as the APIs print them.
import type { ListAsk, ListOf } from "../contract/payment-desk.ts";
import { Refusal } from "../contract/refusals.ts";
import { type Page, pageStart } from "../store/page.ts";

const USUAL = 50;

/** Where the asked page starts, and how long it is. Throws `Refusal` for a cursor that no page gave. */
export function startOf({ cursor, limit }: ListAsk): { after: { atMs: number; id: string }; limit: number } {
  const after = pageStart({ cursor: cursor ?? null });
  if (after === null)
    throw new Refusal("invalid_request", "cursor must be the next_cursor of an earlier page.", {
      param: "cursor",
    });
  return { after, limit: limit ?? USUAL };
}

export const listOf = <Row, Json>(page: Page<Row>, print: (row: Row) => Json): ListOf<Json> => ({
  data: page.rows.map(print),
  next_cursor: page.nextCursor,
});

export const timeOf = (atMs: number): string => new Date(atMs).toISOString();
export const timeOrNull = (atMs: number | null): string | null => (atMs === null ? null : timeOf(atMs));
