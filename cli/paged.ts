// Paged lists: the page size, the cursor, and the notice that there are more rows.
import type { Command } from "commander";
import type { Answer as Answered, Input } from "../src/api/client.ts";
import { everyPage, type ListTarget, pageIn } from "./every-page.ts";
import type { Answer, Gateway } from "./gateway.ts";
import { say } from "./report.ts";

export interface Paged {
  limit?: string;
  cursor?: string;
}

export const paged = (command: Command): Command =>
  command
    .option("--limit <n>", "at most this many, up to 200")
    .option("--cursor <cursor>", "next_cursor of the previous page");

interface Listed {
  next_cursor: string | null;
  /** How far back the list was searched, if it ended before its page was full. */
  searched_to?: string | null;
}

/** Goes to stderr, so that nobody mistakes a page for the whole list. */
export function tellMore({ next_cursor, searched_to = null }: Listed): void {
  if (next_cursor === null) return;
  const more = searched_to === null ? "There are more" : `Searched back to ${searched_to}, there may be more`;
  say(`${more}: add --cursor ${next_cursor}`);
}

/** For lists that are printed whole unless a page is asked for. */
export const wholeOrPaged = (command: Command): Command =>
  command
    .option("--limit <n>", "only one page of at most this many, up to 1000")
    .option("--cursor <cursor>", "only one page: next_cursor of the previous one");

/** One page if `--limit` or `--cursor` asks for one, otherwise all of them. */
export async function wholeOrPage<T extends ListTarget>(
  gateway: Gateway,
  target: T,
  input: Input<T> & Paged,
): Promise<Answer<Answered<T>>> {
  if (input.limit === undefined && input.cursor === undefined)
    return await everyPage(gateway.call, target, input);
  const page = await gateway.call(target, input);
  tellMore(pageIn<T>(page.value));
  return page;
}
