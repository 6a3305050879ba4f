// Exact token counts of a text, in pieces: byte pair merging is quadratic in the length of one word, so no piece is
// longer than 1,024 characters (hardening S22). Loads a tokenizer's tables (0.5 s, 66 MB) on first need.
import type { TokenizerName } from "../contract/release.ts";

const PIECE_CHARACTERS = 1024;
/** The library remembers this many words; its own default of 100,000 would hold 200 MB of hostile ones. */
const REMEMBERED_WORDS = 4096;
/** `<|endoftext|>` and its like are plain text here. */
const PLAIN_TEXT = { disallowedSpecial: new Set<string>() };

export type TableName = Exclude<TokenizerName, "bytes">;
type CountPiece = (piece: string) => number;

const tables = new Map<TableName, Promise<CountPiece>>();

/** Counts one text whole, on this thread. Counts differ by a few in ten thousand from those of the uncut text. */
export async function countText(text: string, tokenizer: TableName): Promise<number> {
  const countPiece = await tableOf(tokenizer);
  let tokens = 0;
  for (let start = 0; start < text.length; ) {
    const end = cutAt(text, start, PIECE_CHARACTERS);
    tokens += countPiece(text.slice(start, end));
    start = end;
  }
  return tokens;
}

/**
 * Where to end the piece that begins at `start`: at most `longest` characters on, before the last space if there is
 * one (words carry their leading space), and never inside a surrogate pair.
 */
export function cutAt(text: string, start: number, longest: number): number {
  const limit = start + longest;
  if (limit >= text.length) return text.length;
  const space = text.slice(start, limit + 1).lastIndexOf(" ");
  if (space > 0) return start + space;
  const last = text.charCodeAt(limit - 1);
  return last >= 0xd800 && last <= 0xdbff && limit - 1 > start ? limit - 1 : limit;
}

function tableOf(tokenizer: TableName): Promise<CountPiece> {
  let table = tables.get(tokenizer);
  if (table === undefined) {
    table = load(tokenizer);
    tables.set(tokenizer, table);
  }
  return table;
}

async function load(tokenizer: TableName): Promise<CountPiece> {
  const { countTokens, setMergeCacheSize } =
    tokenizer === "o200k_base"
      ? await import("gpt-tokenizer/encoding/o200k_base")
      : await import("gpt-tokenizer/encoding/cl100k_base");
  setMergeCacheSize(REMEMBERED_WORDS);
  return (piece) => countTokens(piece, PLAIN_TEXT);
}
