// What a stream has delivered, for charging by evidence, for its progress, and for stopping an upstream that ignores its
// maximum. Each choice's reasoning, words, refusal and tool calls are texts of their own, as in an answer that is not streamed.
import type { TokenizerName } from "../domain/release.ts";
import { CHARACTERS_PER_TOKEN_MAX } from "../pricing/believed-usage.ts";
import { RunningText } from "../pricing/running-text.ts";
import type { Part } from "../providers/provider.ts";

/** No token of any tokenizer in use is longer. */
const LONGEST_TOKEN_BYTES = 128;

interface Text {
  /** Of which parts it is: of this kind, of one choice, and of one call of tools. */
  type: Part["type"];
  choice: number;
  index: number;
  /** What of it was delivered, and is not known to be accepted. */
  fresh: string;
  running: RunningText;
  /** Ends in the middle of a word. */
  inWord: boolean;
}

/** Of one stream. Counting is put off to when somebody asks: adding a part costs a concatenation. */
export class Delivered {
  private readonly texts = new Map<string, Text>();
  /** The one that was added to last: mostly it goes on. */
  private last: Text | null = null;
  /** UTF-16 units added so far. */
  characters = 0;
  private deltas = 0;
  private acceptedBytes = 0;
  private acceptedWords = 0;
  private counted = 0;
  private checkAtDeltas: number;
  private checkAtCharacters: number;

  /** `tokensMax`: O × n, the number that went upstream. */
  constructor(
    private readonly tokenizer: TokenizerName,
    private readonly tokensMax: number,
    private readonly organizationId: string,
  ) {
    this.checkAtDeltas = tokensMax;
    this.checkAtCharacters = tokensMax * CHARACTERS_PER_TOKEN_MAX;
  }

  get empty(): boolean {
    return this.deltas === 0;
  }

  add(part: Part): void {
    const text = textOf(part);
    if (text === "") return;
    this.deltas += 1;
    this.characters += text.length;
    this.textOf(part).fresh += text;
  }

  /** Tokens delivered so far. */
  count(): Promise<number> {
    this.accept();
    return this.countAccepted();
  }

  /** Everything added so far has been taken by the client's stream. */
  accept(): void {
    for (const text of this.texts.values()) {
      if (text.fresh === "") continue;
      this.acceptedBytes += Buffer.byteLength(text.fresh);
      this.acceptedWords += newWords(text);
      text.running.append(text.fresh);
      text.fresh = "";
    }
  }

  /** Tokens of what was accepted. */
  async countAccepted(): Promise<number> {
    const counts = [...this.texts.values()].map(({ running }) => running.count());
    const tokens = (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
    this.counted = Math.max(this.counted, tokens);
    return tokens;
  }

  /** Tokens of what was accepted, at least: those counted of it, or those that its bytes and words prove. Known at once. */
  get acceptedAtLeast(): number {
    const proven = Math.ceil(this.acceptedBytes / LONGEST_TOKEN_BYTES);
    return Math.max(this.counted, this.acceptedWords, proven);
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

  private textOf(part: Part): Text {
    const { type } = part;
    const choice = "choice" in part ? part.choice : 0;
    const index = "index" in part ? part.index : 0;
    const { last } = this;
    if (last !== null && last.type === type && last.choice === choice && last.index === index) return last;
    const key = `${choice} ${type} ${index}`;
    const known = this.texts.get(key);
    if (known !== undefined) return (this.last = known);
    const share = { organizationId: this.organizationId, lane: "settlement" } as const;
    const running = new RunningText(this.tokenizer, share);
    const text: Text = { type, choice, index, fresh: "", running, inWord: false };
    this.texts.set(key, text);
    return (this.last = text);
  }
}

const BLANK = 32;

/** Words that begin in the fresh text: no token has two. Counted in place: a list of them would take ten times the text. */
function newWords(text: Text): number {
  let words = 0;
  for (let index = 0; index < text.fresh.length; index += 1) {
    const inWord = text.fresh.charCodeAt(index) > BLANK;
    if (inWord && !text.inWord) words += 1;
    text.inWord = inWord;
  }
  return words;
}

/** The text of a part that the customer receives and that a tokenizer can count. */
function textOf(part: Part): string {
  switch (part.type) {
    case "text":
    case "refusal":
    case "reasoning":
    case "tool_arguments":
      return part.text;
    case "tool_call":
      return part.name;
    case "annotations":
    case "native":
    case "finish":
    case "usage":
      return "";
  }
}
