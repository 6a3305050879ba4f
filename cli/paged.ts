// Paged lists: the page size, the cursor, and the notice that there are more rows.
import type { Command } from "commander";
import { say } from "./report.ts";

export interface Paged {
  limit?: string;
  cursor?: string;
}

export const paged = (command: Command): Command =>
  command
    .option("--limit <n>", "at most this many, up to 200")
    .option("--cursor <cursor>", "next_cursor of the previous page");

/** Goes to stderr, so that nobody mistakes a page for the whole list. */
export function tellMore({ next_cursor }: { next_cursor: string | null }): void {
  if (next_cursor !== null) say(`There are more: add --cursor ${next_cursor}`);
}
