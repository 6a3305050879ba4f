// A tokenizer's vocabulary in three flat arrays: 4 MB, where a map of its strings takes 70 to 100
// (docs/decisions/0013-a-vocabulary-of-our-own.md). The bytes and the way to split a text are the
// library's; lookup and merging are textbook byte pair encoding.
import cl100k from "gpt-tokenizer/data/cl100k_base.tiktoken" with { type: "file" };
import o200k from "gpt-tokenizer/data/o200k_base.tiktoken" with { type: "file" };
import { CL100K_TOKEN_SPLIT_REGEX, O200K_TOKEN_SPLIT_REGEX } from "gpt-tokenizer/encodingParams/constants";
import type { TokenizerName } from "../domain/release.ts";
import { LowestFirst } from "./lowest-first.ts";

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
/** A rank that no token has. */
const NONE = 0xffff_ffff;
/** The maximum positions in a word; in the queue of pending merges, ranks are multiples of this. */
const POSITIONS = 2 ** 20;

interface Parts {
  ranks: Uint32Array;
  behind: Uint32Array;
  before: Int32Array;
}

const newParts = (length: number): Parts => ({
  ranks: new Uint32Array(length),
  behind: new Uint32Array(length),
  before: new Int32Array(length),
});

export class Vocabulary {
  /** Open addressing: a token's rank is in the first free slot from its hash on; at most half of the slots are taken. */
  private readonly slots: Int32Array;
  private readonly encoder = new TextEncoder();
  private readonly queue = new LowestFirst();
  private parts = newParts(4096);

  private constructor(
    private readonly words: RegExp,
    /** All tokens, concatenated in the order of their ranks, and where each begins; the last entry is the end. */
    private readonly bytes: Uint8Array,
    private readonly starts: Uint32Array,
  ) {
    this.slots = new Int32Array(2 ** Math.ceil(Math.log2(starts.length * 2))).fill(EMPTY);
    for (let rank = 0; rank + 1 < starts.length; rank += 1)
      this.slots[this.place(bytes, at(starts, rank), at(starts, rank + 1))] = rank;
  }

  /** Reads the library's table; throws if it is not one token per line, by rank. */
  static async load(name: TableName): Promise<Vocabulary> {
    const { file, words } = SOURCES[name];
    return new Vocabulary(words, ...readTable(await Bun.file(file).bytes()));
  }

  /** Counts the tokens of a text whose words are shorter than a million bytes. */
  count(text: string): number {
    let tokens = 0;
    for (const [word] of text.matchAll(this.words)) {
      const bytes = this.encoder.encode(word);
      tokens += this.rank(bytes, 0, bytes.length) === NONE ? this.merge(bytes) : 1;
    }
    return tokens;
  }

  /**
   * Counts the tokens of one word. Of all neighboring parts that together form a token, those of the
   * lowest rank are merged, leftmost first, until no neighbors form a token.
   */
  private merge(word: Uint8Array): number {
    const { ranks, behind, before } = this.partsOf(word.length);
    const queue = this.queue.cleared();
    const renew = (part: number): void => {
      const next = at(behind, part);
      const rank = next < word.length ? this.rank(word, part, at(behind, next)) : NONE;
      ranks[part] = rank;
      if (rank !== NONE) queue.push(rank * POSITIONS + part);
    };
    for (let part = 0; part < word.length; part += 1) {
      behind[part] = part + 1;
      before[part] = part - 1;
    }
    for (let part = 0; part < word.length; part += 1) renew(part);
    let parts = word.length;
    for (let key = queue.pop(); key !== undefined; key = queue.pop()) {
      const part = key % POSITIONS;
      if (ranks[part] !== (key - part) / POSITIONS) continue; // it or the one after it has been merged since
      const merged = at(behind, part);
      const next = at(behind, merged);
      ranks[merged] = NONE;
      behind[part] = next;
      before[next] = part;
      parts -= 1;
      renew(part);
      if (part > 0) renew(at(before, part));
    }
    return parts;
  }

  /** For each part, by its start: its rank with the next part, where that starts, and where the previous one starts. */
  private partsOf(length: number): Parts {
    if (length >= POSITIONS) throw new Error(`a word of ${length} bytes: cut texts first`);
    if (length >= this.parts.ranks.length) this.parts = newParts(2 * length);
    return this.parts;
  }

  private rank(word: Uint8Array, start: number, end: number): number {
    const rank = at(this.slots, this.place(word, start, end));
    return rank === EMPTY ? NONE : rank;
  }

  /** Returns the slot where the token with these bytes is, or would be. */
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

/** Reads an array only where it has been written. */
const at = (array: Uint32Array | Uint16Array | Uint8Array | Int32Array, index: number): number =>
  array[index] as number;

/** FNV-1a. */
function hashOf(word: Uint8Array, start: number, end: number): number {
  let hash = 0x811c_9dc5;
  for (let index = start; index < end; index += 1) hash = Math.imul(hash ^ at(word, index), 0x0100_0193);
  return hash ^ (hash >>> 15);
}

/**
 * Parses lines of base64, a space and the rank, which is the line number. Works by byte and by index:
 * strings or an iterator would leave 20 MB of garbage.
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
