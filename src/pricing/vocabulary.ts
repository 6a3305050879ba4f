// A tokenizer's vocabulary in three flat arrays, 4 MB where a map of its strings takes 70 to 100
// (docs/decisions/0013-a-vocabulary-of-our-own.md). The bytes and the way to part a text are the library's; looking up and
// merging are the textbook's byte pair encoding.
import cl100k from "gpt-tokenizer/data/cl100k_base.tiktoken" with { type: "file" };
import o200k from "gpt-tokenizer/data/o200k_base.tiktoken" with { type: "file" };
import { CL100K_TOKEN_SPLIT_REGEX, O200K_TOKEN_SPLIT_REGEX } from "gpt-tokenizer/encodingParams/constants";
import type { TokenizerName } from "../contract/release.ts";

export type TableName = Exclude<TokenizerName, "bytes">;

const SOURCES: Record<TableName, { file: string; words: RegExp }> = {
  o200k_base: { file: o200k, words: O200K_TOKEN_SPLIT_REGEX },
  cl100k_base: { file: cl100k, words: CL100K_TOKEN_SPLIT_REGEX },
};
const [NEWLINE, BLANK, ZERO, PADDING] = Buffer.from("\n 0=") as unknown as [number, number, number, number];
const SEXTETS = new Uint8Array(128);
for (const [sextet, byte] of Buffer.from(
  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
).entries())
  SEXTETS[byte] = sextet;
const EMPTY = -1;
/** Ranks that no token has. */
const NONE = 0xffff_ffff;
const CHANGED = 0xffff_fffe;

export class Vocabulary {
  /** Open addressing: a token's rank at the first free place from its hash on, at most half of them taken. */
  private readonly slots: Int32Array;
  private readonly encoder = new TextEncoder();

  private constructor(
    private readonly words: RegExp,
    /** All tokens, one after the other in the order of their ranks, and where each begins; the last is the end. */
    private readonly bytes: Uint8Array,
    private readonly starts: Uint32Array,
  ) {
    this.slots = new Int32Array(2 ** Math.ceil(Math.log2(starts.length * 2))).fill(EMPTY);
    for (let rank = 0; rank + 1 < starts.length; rank += 1)
      this.slots[this.place(bytes, at(starts, rank), at(starts, rank + 1))] = rank;
  }

  /** Reads the library's table; throws where it is not one token a line, by rank. */
  static async load(name: TableName): Promise<Vocabulary> {
    const { file, words } = SOURCES[name];
    return new Vocabulary(words, ...readTable(await Bun.file(file).bytes()));
  }

  /** Tokens of a text. Takes time with the square of the longest word: cut texts first. */
  count(text: string): number {
    let tokens = 0;
    for (const [word] of text.matchAll(this.words)) {
      const bytes = this.encoder.encode(word);
      tokens += this.rank(bytes, 0, bytes.length) === NONE ? this.merge(bytes) : 1;
    }
    return tokens;
  }

  /**
   * Tokens of one word. In each round the neighbours that are the token of lowest rank become one, wherever they stand,
   * until no neighbours are a token.
   */
  private merge(word: Uint8Array): number {
    let parts = word.length;
    const begins = Uint16Array.from({ length: parts + 1 }, (_, index) => index);
    /** Of each part with the one behind it. */
    const ranks = new Uint32Array(parts).fill(CHANGED);
    for (;;) {
      let lowest = NONE;
      for (let part = 0; part < parts; part += 1) {
        if (ranks[part] === CHANGED)
          ranks[part] = part + 2 > parts ? NONE : this.rank(word, at(begins, part), at(begins, part + 2));
        lowest = Math.min(lowest, at(ranks, part));
      }
      if (lowest === NONE) return parts;
      let kept = 0;
      for (let part = 0; part < parts; part += 1) {
        const merges = ranks[part] === lowest;
        begins[kept] = at(begins, part);
        ranks[kept] = merges ? CHANGED : at(ranks, part);
        if (merges && kept > 0) ranks[kept - 1] = CHANGED;
        if (merges) part += 1; // the one behind it is part of it now
        kept += 1;
      }
      begins[kept] = word.length;
      parts = kept;
    }
  }

  private rank(word: Uint8Array, start: number, end: number): number {
    const rank = at(this.slots, this.place(word, start, end));
    return rank === EMPTY ? NONE : rank;
  }

  /** Where the token with these bytes is, or would be. */
  private place(word: Uint8Array, start: number, end: number): number {
    const mask = this.slots.length - 1;
    let place = hashOf(word, start, end) & mask;
    for (;;) {
      const rank = at(this.slots, place);
      if (rank === EMPTY || this.is(rank, word, start, end)) return place;
      place = (place + 1) & mask;
    }
  }

  private is(rank: number, word: Uint8Array, start: number, end: number): boolean {
    const from = at(this.starts, rank);
    if (at(this.starts, rank + 1) - from !== end - start) return false;
    for (let index = start; index < end; index += 1)
      if (word[index] !== this.bytes[from + index - start]) return false;
    return true;
  }
}

/** An array that is read only where it has been written. */
const at = (array: Uint32Array | Uint16Array | Uint8Array | Int32Array, index: number): number =>
  array[index] as number;

/** FNV-1a. */
function hashOf(word: Uint8Array, start: number, end: number): number {
  let hash = 0x811c_9dc5;
  for (let index = start; index < end; index += 1) hash = Math.imul(hash ^ at(word, index), 0x0100_0193);
  return hash ^ (hash >>> 15);
}

/**
 * Lines of base64, a blank and the rank, which is the number of the line. By the byte and by index: strings,
 * or an iterator, would leave 20 MB behind.
 */
function readTable(file: Uint8Array): [bytes: Uint8Array, starts: Uint32Array] {
  const bytes = new Uint8Array(file.length);
  const starts = [0];
  let length = 0;
  let held = 0;
  let bits = 0;
  let rank = NONE;
  for (let index = 0; index < file.length; index += 1) {
    const byte = at(file, index);
    if (byte === BLANK) {
      rank = 0;
    } else if (byte === NEWLINE) {
      if (rank !== starts.length - 1)
        throw new Error(`line ${starts.length} of a tokenizer's table is not its rank`);
      starts.push(length);
      held = 0;
      bits = 0;
      rank = NONE;
    } else if (rank !== NONE) {
      rank = rank * 10 + byte - ZERO;
    } else if (byte !== PADDING) {
      held = (held << 6) | at(SEXTETS, byte);
      bits += 6;
      if (bits < 8) continue;
      bits -= 8;
      bytes[length] = held >> bits;
      length += 1;
    }
  }
  return [bytes.slice(0, length), Uint32Array.from(starts)];
}
