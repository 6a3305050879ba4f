// What a stream has delivered: for charging by evidence, for its progress, and for stopping an upstream that ignores its maximum.
// Each choice's reasoning, content, refusal and tool calls are separate texts, as in an answer that is not streamed. A provider's
// explanations, and what may be a guard's words, prove no tokens (docs/decisions/0030-a-zero-beside-text.md).
import type { TokenizerName } from "../domain/release.ts";
import { CHARACTERS_PER_TOKEN_MAX } from "../pricing/believed-usage.ts";
import { RunningText } from "../pricing/running-text.ts";
import type { Part } from "../providers/provider.ts";

/** No token of any tokenizer in use is longer. */
const LONGEST_TOKEN_BYTES = 128;

interface Text {
  /** The parts that belong to this text: those of one kind, one choice, and one tool call. */
  type: Part["type"];
  choice: number;
  index: number;
  /** Text that was delivered but is not known to be accepted. */
  fresh: string;
  running: RunningText;
  /** The accepted text ends in the middle of a word. */
  inWord: boolean;
  /** UTF-16 units so far; UTF-8 bytes and words of the accepted text. */
  characters: number;
  bytes: number;
  words: number;
  /** The text is certainly the model's. */
  proves: boolean;
}

/** The texts of one stream. Counting is deferred until it is needed: adding a part costs a concatenation. */
export class Delivered {
  private readonly texts = new Map<string, Text>();
  /** The text that was added to last: usually the next part continues it. */
  private last: Text | null = null;
  /** UTF-16 units added so far that are certainly the model's. */
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

  /** A guard stood in for this choice: its text may be the guard's words, and proves nothing. */
  disown(choice: number): void {
    for (const text of this.texts.values()) {
      if (text.choice !== choice || !text.proves) continue;
      text.proves = false;
      this.characters -= text.characters;
    }
    this.counted = 0;
  }

  /** Tokens delivered so far that are certainly the model's. */
  count(): Promise<number> {
    this.accept();
    return this.countAccepted();
  }

  /** The client's stream has taken everything added so far. */
  accept(): void {
    for (const text of this.texts.values()) {
      if (text.fresh === "") continue;
      text.bytes += Buffer.byteLength(text.fresh);
      text.words += newWords(text);
      text.running.append(text.fresh);
      text.fresh = "";
    }
  }

  /** Tokens of the accepted text. */
  async countAccepted(): Promise<number> {
    const tokens = await tokensOf([...this.texts.values()].filter(({ proves }) => proves));
    this.counted = Math.max(this.counted, tokens);
    return tokens;
  }

  /** A lower bound of the same, known at once: tokens already counted, or those that its bytes and words prove. */
  get acceptedAtLeast(): number {
    let [bytes, words] = [0, 0];
    for (const text of this.texts.values()) {
      if (!text.proves) continue;
      bytes += text.bytes;
      words += text.words;
    }
    return Math.max(this.counted, words, Math.ceil(bytes / LONGEST_TOKEN_BYTES));
  }

  /** Whether a cheap sign says that the maximum may be exceeded; then `overrun` decides. */
  get suspicious(): boolean {
    return this.deltas > this.checkAtDeltas || this.allCharacters > this.checkAtCharacters;
  }

  /** Counts everything and returns whether the upstream exceeded its maximum; if not, sets the next check. */
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

/**
 * Counts words that begin in the fresh text: no token spans two. Counted in place: a list of them would take ten times the text.
 */
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
