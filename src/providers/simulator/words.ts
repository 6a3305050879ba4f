// Text of a known length in tokens, without a tokenizer: each word with its leading blank is one token of o200k_base,
// and so is the full stop. A test checks the list.

const WORDS: readonly string[] = (
  "river light stone garden morning window paper summer music winter bridge forest story number signal market " +
  "engine letter silver circle method reason simple steady bright public local system better answer second minute"
).split(" ");

/** Returns a generator of numbers seeded by a text: the same text gives the same numbers. */
export function numbersFrom(text: string): () => number {
  let state = Number(Bun.hash.xxHash32(text)) || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
}

/** Yields exactly `tokens` pieces of text, each one token when they are joined. */
export function* pieces(tokens: number, next: () => number): Generator<string> {
  for (let n = 1; n <= tokens; n += 1) {
    const word = WORDS[next() % WORDS.length] ?? "light";
    yield n === tokens && tokens > 1 ? "." : ` ${word}`;
  }
}
