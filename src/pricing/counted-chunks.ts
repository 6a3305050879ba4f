// What chunks of texts were counted at: an agent sends its whole conversation with each call, a little longer each time, and only the
// new end of it is left to count (decision 100).
import type { TableName } from "./vocabulary.ts";

/** Shorter ones are ends of texts, which come once, and answers, which are their own. */
const CHARACTERS_MIN = 8_192;
/** Chunks in each of two generations: 1.5 MB in all, for 250 MB of text. */
const GENERATION = 8_192;

export interface CountedText {
  text: string;
  tokenizer: TableName;
  /** Organizations learn nothing of one another by how fast a count is. */
  organizationId: string;
}

/** Remembers the chunks asked for last; what nobody asked for while as many others came is forgotten. */
export class CountedChunks {
  private recent = new Map<string, number>();
  private older = new Map<string, number>();

  /** The name under which a chunk is remembered; null for one that is not. */
  keyOf({ text, tokenizer, organizationId }: CountedText): string | null {
    if (text.length < CHARACTERS_MIN) return null;
    const hasher = new Bun.CryptoHasher("sha256");
    return hasher.update(`${tokenizer} ${organizationId}\n`).update(text).digest("base64");
  }

  /** Its tokens; null if it is not known. */
  tokensOf(key: string): number | null {
    const recent = this.recent.get(key);
    if (recent !== undefined) return recent;
    const tokens = this.older.get(key) ?? null;
    if (tokens !== null) this.remember(key, tokens);
    return tokens;
  }

  remember(key: string, tokens: number): void {
    if (this.recent.size >= GENERATION) {
      this.older = this.recent;
      this.recent = new Map();
    }
    this.recent.set(key, tokens);
  }
}
