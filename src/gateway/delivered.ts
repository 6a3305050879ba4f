// What a stream has delivered, for charging by evidence, for its progress, and for stopping an upstream that ignores its
// maximum. Each choice's reasoning, words, refusal and tool calls are texts of their own, as in an answer that is not streamed. What its
// provider explains, and what may be a guard's words, proves no tokens (docs/decisions/0030-a-zero-beside-text.md).
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
  /** UTF-16 units of it so far; UTF-8 bytes and words of what was accepted. */
  characters: number;
  bytes: number;
  words: number;
  /** It is the model's for certain. */
  proves: boolean;
}

/** Of one stream. Counting is put off to when somebody asks: adding a part costs a concatenation. */
export class Delivered {
  private readonly texts = new Map<string, Text>();
  /** The one that was added to last: mostly it goes on. */
  private last: Text | null = null;
  /** UTF-16 units added so far that are the model's for certain. */
  characters = 0;
  private allCharacters = 0;
  private deltas = 0;
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

  add(part: Part): void {
    const text = textOf(part);
    if (text === "") return;
    this.deltas += 1;
    this.allCharacters += text.length;
    const own = this.textOf(part);
    own.fresh += text;
    own.characters += text.length;
    if (own.proves) this.characters += text.length;
  }

  /** A guard stood in for this choice: what was said of it may be the guard's words, and proves nothing. */
  disown(choice: number): void {
    for (const text of this.texts.values()) {
      if (text.choice !== choice || !text.proves) continue;
      text.proves = false;
      this.characters -= text.characters;
    }
    this.counted = 0;
  }

  /** Tokens delivered so far that are the model's for certain. */
  count(): Promise<number> {
    this.accept();
    return this.countAccepted();
  }

  /** Everything added so far has been taken by the client's stream. */
  accept(): void {
    for (const text of this.texts.values()) {
      if (text.fresh === "") continue;
      text.bytes += Buffer.byteLength(text.fresh);
      text.words += newWords(text);
      text.running.append(text.fresh);
      text.fresh = "";
    }
  }

  /** Of what was accepted. */
  async countAccepted(): Promise<number> {
    const tokens = await tokensOf([...this.texts.values()].filter(({ proves }) => proves));
    this.counted = Math.max(this.counted, tokens);
    return tokens;
  }

  /** The same, at least: tokens that were counted of it, or those that its bytes and words prove. Known at once. */
  get acceptedAtLeast(): number {
    let [bytes, words] = [0, 0];
    for (const text of this.texts.values()) {
      if (!text.proves) continue;
      bytes += text.bytes;
      words += text.words;
    }
    return Math.max(this.counted, words, Math.ceil(bytes / LONGEST_TOKEN_BYTES));
  }

  /** Whether a cheap sign says that the maximum may be passed; then `overrun` decides. */
  get suspicious(): boolean {
    return this.deltas > this.checkAtDeltas || this.allCharacters > this.checkAtCharacters;
  }

  /** Counts all that was said, and says whether the upstream went past its maximum; if not, sets the next check. */
  async overrun(): Promise<boolean> {
    this.accept();
    const left = this.tokensMax - (await tokensOf([...this.texts.values()]));
    this.checkAtDeltas = this.deltas + Math.max(left, 16);
    this.checkAtCharacters = this.allCharacters + Math.max(left, 16);
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
    const text: Text = {
      type,
      choice,
      index,
      running,
      fresh: "",
      inWord: false,
      characters: 0,
      bytes: 0,
      words: 0,
      proves: !("explains" in part && part.explains === true),
    };
    this.texts.set(key, text);
    return (this.last = text);
  }
}

async function tokensOf(texts: readonly Text[]): Promise<number> {
  const counts = await Promise.all(texts.map(({ running }) => running.count()));
  return counts.reduce((sum, count) => sum + count, 0);
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
