// A growing text that is counted repeatedly: the part that no further letter can change is counted once, and
// only its short end again, so that a count costs only what was added and equals that of the whole text.
import type { TokenizerName } from "../domain/release.ts";
import { cutAt, PIECE_CHARACTERS } from "./token-pieces.ts";
import { countTokens, type CountingFor } from "./tokens.ts";

/** The most text kept uncounted while no count is requested: bounds memory. */
const KEPT_CHARACTERS = 1 << 20;

export class RunningText {
  /** What may still become part of another token: the last word, or less of a very long one. */
  private end = "";
  private before: Promise<number> = Promise.resolve(0);
  private whole: Promise<number> | null = this.before;

  constructor(
    private readonly tokenizer: TokenizerName,
    private readonly share: CountingFor & { lane: "settlement" },
  ) {}

  append(text: string): void {
    this.end += text;
    this.whole = null;
    if (this.end.length >= KEPT_CHARACTERS) this.settle();
  }

  /** Returns the tokens of everything appended so far. */
  count(): Promise<number> {
    this.settle();
    return (this.whole ??= this.plus(this.end));
  }

  /** Tokens do not cross the space before a word, and no word is counted in longer pieces (`countText`). */
  private settle(): void {
    let at = Math.max(0, this.end.lastIndexOf(" "));
    while (this.end.length - at > PIECE_CHARACTERS) at = cutAt(this.end, at, PIECE_CHARACTERS);
    if (at === 0) return;
    this.before = this.plus(this.end.slice(0, at));
    this.end = this.end.slice(at);
  }

  private async plus(text: string): Promise<number> {
    const counted = text === "" ? 0 : countTokens([text], this.tokenizer, this.share);
    return (await this.before) + (await counted);
  }
}
