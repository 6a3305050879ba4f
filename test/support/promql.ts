// The part of PromQL that the dashboard and the alert rules use, over scrapes of a gateway that really ran. A series
// with a single sample has no rate, as in Prometheus. Anything unknown is refused, so that no query is written that
// cannot be tested.
import type { Scrape } from "./scrape.ts";

export interface Look {
  atS: number;
  scrape: Scrape;
}

export interface Series {
  labels: Record<string, string>;
  value: number;
}

type Matcher = { label: string; op: "=" | "!=" | "=~" | "!~"; value: string };

export type Expr =
  | { kind: "number"; value: number }
  | { kind: "selector"; name: string; matchers: Matcher[]; rangeS: number | null }
  | { kind: "call"; name: string; args: Expr[] }
  | { kind: "aggregate"; op: string; by: string[]; of: Expr }
  | { kind: "binary"; op: string; left: Expr; right: Expr };

const TOKEN =
  /\s*(?:(\d+(?:\.\d+)?(?:e[+-]?\d+)?)(?![a-z\d])|([a-zA-Z_]\w*)|("(?:[^"\\]|\\.)*")|(\[\d+[smhd]\])|(>=|<=|==|!=|=~|!~|[-+*/(){},=<>]))/y;
const AGGREGATES = new Set(["sum", "max", "min", "avg", "count"]);
const FUNCTIONS = new Set(["rate", "increase", "histogram_quantile", "time", "absent", "clamp_min"]);
/** The precedence of each operator. */
const POWER: Record<string, number> = Object.fromEntries(
  [["or"], ["and", "unless"], [">", "<", ">=", "<=", "==", "!="], ["+", "-"], ["*", "/"]].flatMap(
    (equals, place) => equals.map((op) => [op, place + 1]),
  ),
);
const SECONDS: Record<string, number> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** Throws at the first unknown token. */
export function parseQuery(text: string): Expr {
  const words = wordsOf(text);
  const parser = new Parser(words, text);
  const expr = parser.expression(0);
  parser.end();
  return expr;
}

function wordsOf(text: string): string[] {
  const words: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.trimEnd().length) {
    const at = TOKEN.lastIndex;
    const found = TOKEN.exec(text);
    if (found === null) throw new Error(`what is "${text.slice(at)}" in ${text}`);
    words.push(found[0].trim());
  }
  return words;
}

class Parser {
  private at = 0;

  constructor(
    private readonly words: readonly string[],
    private readonly text: string,
  ) {}

  end(): void {
    if (this.at < this.words.length) throw new Error(`"${this.peek()}" is left over in ${this.text}`);
  }

  expression(power: number): Expr {
    let left = this.operand();
    for (;;) {
      const op = this.peek();
      const binds = POWER[op] ?? 0;
      if (binds === 0 || binds <= power) return left;
      this.at += 1;
      left = { kind: "binary", op, left, right: this.expression(binds) };
    }
  }

  private operand(): Expr {
    const word = this.next();
    if (/^\d/.test(word)) return { kind: "number", value: Number(word) };
    if (word === "(") {
      const inside = this.expression(0);
      this.take(")");
      return inside;
    }
    if (AGGREGATES.has(word)) return this.aggregate(word);
    if (FUNCTIONS.has(word) && this.peek() === "(")
      return { kind: "call", name: word, args: this.arguments() };
    if (/^[a-zA-Z_]/.test(word) && this.peek() !== "(") return this.selector(word);
    throw new Error(`"${word}" is not known here, in ${this.text}`);
  }

  private aggregate(op: string): Expr {
    const by = this.peek() === "by" ? (this.next(), this.names()) : [];
    const [of, more] = this.arguments();
    if (of === undefined || more !== undefined) throw new Error(`${op} takes one thing, in ${this.text}`);
    return { kind: "aggregate", op, by, of };
  }

  private arguments(): Expr[] {
    const args: Expr[] = [];
    this.take("(");
    while (this.peek() !== ")") {
      args.push(this.expression(0));
      if (this.peek() === ",") this.at += 1;
    }
    this.take(")");
    return args;
  }

  private names(): string[] {
    const names: string[] = [];
    this.take("(");
    while (this.peek() !== ")") {
      names.push(this.next());
      if (this.peek() === ",") this.at += 1;
    }
    this.take(")");
    return names;
  }

  private selector(name: string): Expr {
    const matchers: Matcher[] = [];
    if (this.peek() === "{") {
      this.at += 1;
      while (this.peek() !== "}") {
        const [label, op, value] = [this.next(), this.next() as Matcher["op"], this.next()];
        matchers.push({ label, op, value: JSON.parse(value) as string });
        if (this.peek() === ",") this.at += 1;
      }
      this.take("}");
    }
    const [, count, unit = ""] = /^\[(\d+)([smhd])\]$/.exec(this.peek()) ?? [];
    if (count === undefined) return { kind: "selector", name, matchers, rangeS: null };
    this.at += 1;
    return { kind: "selector", name, matchers, rangeS: Number(count) * (SECONDS[unit] ?? 0) };
  }

  private peek(): string {
    return this.words[this.at] ?? "";
  }

  private next(): string {
    const word = this.words[this.at];
    if (word === undefined) throw new Error(`${this.text} ends too early`);
    this.at += 1;
    return word;
  }

  private take(word: string): void {
    if (this.next() !== word) throw new Error(`"${word}" is missing in ${this.text}`);
  }
}

/** Everything that a query names: metrics as written, and the labels that it uses of each. */
export function namedIn(expr: Expr): { name: string; labels: string[] }[] {
  switch (expr.kind) {
    case "number":
      return [];
    case "selector":
      return [{ name: expr.name, labels: expr.matchers.map(({ label }) => label) }];
    case "call":
      return expr.args.flatMap(namedIn);
    case "binary":
      return [...namedIn(expr.left), ...namedIn(expr.right)];
    case "aggregate":
      return namedIn(expr.of).map(({ name, labels }) => ({ name, labels: [...labels, ...expr.by] }));
  }
}
