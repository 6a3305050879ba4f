// What a stream has delivered, for charging by evidence and for stopping an upstream that ignores its maximum. Texts
// are kept, not counted: counting costs, and most streams report their own usage at the end.
import type { TokenizerName } from "../contract/release.ts";
import { countTokens } from "../pricing/tokens.ts";
import type { Part } from "../providers/provider.ts";

/** Text kept before it is folded into a count; bounds memory on very long streams. */
const FOLD_CHARACTERS = 1 << 23;
/** No tokenizer in use averages above this over a whole answer; beyond it a count decides. */
const BYTES_PER_TOKEN_MAX = 16;

export class Delivered {
  private texts: string[] = [];
  private characters = 0;
  private pending = 0;
  /** How many of the texts the client has accepted. */
  private accepted = 0;
  private words = 0;
  private deltas = 0;
  private folded: Promise<number> = Promise.resolve(0);
  private checkAtDeltas: number;
  private checkAtCharacters: number;

  /** `tokensMax`: O × n, the number that went upstream. */
  constructor(
    private readonly tokenizer: TokenizerName,
    private readonly tokensMax: number,
  ) {
    this.checkAtDeltas = tokensMax;
    this.checkAtCharacters = tokensMax * BYTES_PER_TOKEN_MAX;
  }

  get empty(): boolean {
    return this.deltas === 0;
  }

  add(part: Part): void {
    const text = textOf(part);
    if (text === "") return;
    this.deltas += 1;
    this.characters += text.length;
    this.pending += text.length;
    this.texts.push(text);
    if (this.pending >= FOLD_CHARACTERS) this.fold();
  }

  /** Tokens delivered so far. */
  count(): Promise<number> {
    this.fold();
    return this.folded;
  }

  /** Everything added so far has been taken by the client's stream. */
  accept(): void {
    this.accepted = this.texts.length;
  }

  /**
   * Tokens of what was accepted, without its last word: tokens do not cross the space before one, and it may go on.
   * `atLeast` is known at once: no tokenizer makes fewer tokens than there are words.
   */
  countAccepted(): { exactly: Promise<number>; atLeast: number } {
    const text = this.texts.splice(0, this.accepted).join("");
    const lastWord = Math.max(0, text.lastIndexOf(" "));
    this.texts.unshift(text.slice(lastWord));
    this.accepted = 1;
    this.pending -= lastWord;
    this.addCount([text.slice(0, lastWord)]);
    return { exactly: this.folded, atLeast: this.words };
  }

  /** Whether a cheap sign says that the maximum may be passed; then `overrun` decides. */
  get suspicious(): boolean {
    return this.deltas > this.checkAtDeltas || this.characters > this.checkAtCharacters;
  }

  /** Counts, and says whether the upstream went past its maximum; if not, sets the next check. */
  async overrun(): Promise<boolean> {
    const left = this.tokensMax - (await this.count());
    this.checkAtDeltas = this.deltas + Math.max(left, 16);
    this.checkAtCharacters = this.characters + Math.max(left, 16);
    return left < 0;
  }

  private fold(): void {
    const texts = this.texts;
    this.texts = [];
    this.pending = 0;
    this.accepted = 0;
    this.addCount(texts);
  }

  private addCount(texts: string[]): void {
    const text = texts.join("");
    if (text === "") return;
    this.words += wordsIn(text);
    const counted = countTokens([text], this.tokenizer);
    this.folded = this.folded.then(async (sum) => sum + (await counted));
  }
}

const BLANK = 32;

/** Words between blanks and control characters. Counted in place: a list of them would take ten times the text. */
function wordsIn(text: string): number {
  let words = 0;
  let before = BLANK;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code > BLANK && before <= BLANK) words += 1;
    before = code;
  }
  return words;
}

/** The text of a part that the customer receives and that a tokenizer can count. */
export function textOf(part: Part): string {
  switch (part.type) {
    case "text":
    case "refusal":
    case "reasoning":
    case "tool_arguments":
      return part.text;
    case "tool_call":
      return part.name;
    case "annotations":
    case "finish":
    case "usage":
      return "";
  }
}
