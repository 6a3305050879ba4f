// Strict JSON by the book, one character at a time: the slow reference that the tests compare `parse-json.ts` with. It shares no
// code with it and implements every rule by itself (wire.md §4.1).

const MAX_DEPTH = 64;
const ESCAPES: Record<string, string> = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};

class Unacceptable extends Error {}

/** Returns the value of an acceptable text, boxed; null for every other text. */
export function referenceParse(text: string): { value: unknown } | null {
  try {
    const reader = new Reader(text.replace(/^\ufeff/, ""));
    const value = reader.value(1);
    reader.end();
    return { value };
  } catch (error) {
    if (error instanceof Unacceptable) return null;
    throw error;
  }
}

class Reader {
  private at = 0;
  constructor(private readonly text: string) {}

  value(level: number): unknown {
    this.blanks();
    const next = this.text[this.at];
    if (next === "{") return this.object(level);
    if (next === "[") return this.array(level);
    if (next === '"') return this.string();
    for (const [word, value] of [
      ["true", true],
      ["false", false],
      ["null", null],
    ] as const)
      if (this.skip(word)) return this.blanks(value);
    return this.number();
  }

  end(): void {
    this.blanks();
    if (this.at < this.text.length) throw new Unacceptable();
  }

  private object(level: number): unknown {
    const members = new Map<string, unknown>();
    this.list(level, "{", "}", () => {
      this.blanks();
      const key = this.string();
      if (!this.skip(":") || members.has(key)) throw new Unacceptable();
      members.set(key, this.value(level + 1));
    });
    if (level > 1) members.delete("__proto__");
    return Object.fromEntries(members);
  }

  private array(level: number): unknown {
    const items: unknown[] = [];
    this.list(level, "[", "]", () => items.push(this.value(level + 1)));
    return items;
  }

  private list(level: number, open: string, close: string, item: () => unknown): void {
    if (level > MAX_DEPTH || !this.skip(open)) throw new Unacceptable();
    this.blanks();
    if (this.skip(close)) return this.blanks();
    do item();
    while (this.skip(","));
    if (!this.skip(close)) throw new Unacceptable();
    this.blanks();
  }

  private string(): string {
    if (!this.skip('"')) throw new Unacceptable();
    let read = "";
    while (!this.skip('"')) read += this.character();
    if (read.includes("\0") || !read.isWellFormed()) throw new Unacceptable();
    return this.blanks(read);
  }

  private character(): string {
    const character = this.text[this.at++];
    if (character === undefined || character < " ") throw new Unacceptable();
    if (character !== "\\") return character;
    const escape = this.text[this.at++] ?? "";
    if (escape !== "u") return ESCAPES[escape] ?? fail();
    const digits = this.text.slice(this.at, (this.at += 4));
    return /^[0-9a-fA-F]{4}$/.test(digits) ? String.fromCharCode(Number.parseInt(digits, 16)) : fail();
  }

  private number(): number {
    const match = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/.exec(this.text.slice(this.at));
    if (match === null) throw new Unacceptable();
    this.at += match[0].length;
    const value = Number(match[0]);
    if (Math.abs(value) > Number.MAX_SAFE_INTEGER) throw new Unacceptable();
    return this.blanks(value);
  }

  private skip(token: string): boolean {
    if (!this.text.startsWith(token, this.at)) return false;
    this.at += token.length;
    return true;
  }

  private blanks<T>(passed?: T): T {
    while (/^[ \t\r\n]$/.test(this.text[this.at] ?? "")) this.at++;
    return passed as T;
  }
}

function fail(): never {
  throw new Unacceptable();
}
