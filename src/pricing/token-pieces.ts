// Exact token counts of a text, in pieces: byte pair merging is quadratic in the length of one word, so no
// piece is longer than 1,024 characters (hardening S22). A tokenizer's vocabulary is loaded on first use.
import { type TableName, Vocabulary } from "./vocabulary.ts";

export const PIECE_CHARACTERS = 1024;

const vocabularies = new Map<TableName, Promise<Vocabulary>>();

/** Counts one text completely, on this thread. Counts differ by a few in ten thousand from those of the uncut text. */
export async function countText(text: string, tokenizer: TableName): Promise<number> {
  const vocabulary = await vocabularyOf(tokenizer);
  let tokens = 0;
  for (let start = 0; start < text.length; ) {
    const end = cutAt(text, start, PIECE_CHARACTERS);
    tokens += vocabulary.count(text.slice(start, end));
    start = end;
  }
  return tokens;
}

/**
 * Returns where to end the piece that begins at `start`: at most `longest` characters later, before
 * the last space if there is one (words carry their leading space), and never inside a surrogate pair.
 */
export function cutAt(text: string, start: number, longest: number): number {
  const limit = start + longest;
  if (limit >= text.length) return text.length;
  const space = text.slice(start, limit + 1).lastIndexOf(" ");
  if (space > 0) return start + space;
  const last = text.charCodeAt(limit - 1);
  return last >= 0xd800 && last <= 0xdbff && limit - 1 > start ? limit - 1 : limit;
}

function vocabularyOf(tokenizer: TableName): Promise<Vocabulary> {
  let vocabulary = vocabularies.get(tokenizer);
  if (vocabulary === undefined) {
    vocabulary = Vocabulary.load(tokenizer);
    vocabularies.set(tokenizer, vocabulary);
    vocabulary.catch(() => vocabularies.delete(tokenizer)); // it is read again on the next count
  }
  return vocabulary;
}
