// Interprets Go templates, as far as our Helm charts use them, so that tests can see what a chart renders and refuses
// without Helm. If Helm is installed, the tests compare its output with this.
export type Value = string | number | boolean | null | undefined | Value[] | { [name: string]: Value };
type Named = Record<string, Value>;
/** A template function and the arguments it is called with. */
export type TemplateFunction = (...given: never[]) => Value;

/** One `{{ … }}`, or the text between two. */
type Token = { text: string } | { action: string };

type Node =
  | { kind: "text"; text: string }
  | { kind: "print"; of: Pipeline }
  | { kind: "set"; name: string; of: Pipeline }
  | { kind: "if" | "with"; of: Pipeline; body: Node[]; otherwise: Node[] }
  | { kind: "range"; names: string[]; of: Pipeline; body: Node[] };

/** Each call gets the result of the one before as its last argument. */
type Pipeline = Call[];
interface Call {
  head: Term;
  args: Term[];
}
type Term =
  | { kind: "literal"; value: Value }
  | { kind: "path"; root: "." | `$${string}`; fields: string[] }
  | { kind: "function"; name: string }
  | { kind: "nested"; of: Pipeline };

export class Templates {
  private readonly defined = new Map<string, Node[]>();
  private readonly functions: Record<string, TemplateFunction>;

  constructor(functions: Record<string, TemplateFunction>) {
    this.functions = {
      ...functions,
      include: (name: string, dot: Value) => this.render(name, dot),
    };
  }

  /** Adds a file by its path; its definitions are visible to all. */
  add(path: string, source: string): void {
    const reader = new Reader(tokensOf(source), this.defined);
    this.defined.set(path, reader.block([]).nodes);
  }

  render(name: string, dot: Value): string {
    const nodes = this.defined.get(name);
    if (nodes === undefined) throw new Error(`no template is called ${name}`);
    return this.printed(nodes, dot, { $: dot });
  }

  private printed(nodes: readonly Node[], dot: Value, scope: Named): string {
    let text = "";
    for (const node of nodes) {
      if (node.kind === "text") text += node.text;
      else if (node.kind === "print") text += textOf(this.value(node.of, dot, scope));
      else if (node.kind === "set") scope[node.name] = this.value(node.of, dot, scope);
      else text += this.branch(node, dot, scope);
    }
    return text;
  }

  private branch(node: Exclude<Node, { kind: "text" | "print" | "set" }>, dot: Value, scope: Named): string {
    const value = this.value(node.of, dot, scope);
    const inner: Named = Object.create(scope) as Named;
    if (node.kind !== "range") {
      const chosen = isTrue(value) ? node.body : node.otherwise;
      return this.printed(chosen, node.kind === "with" && isTrue(value) ? value : dot, inner);
    }
    const [of, at] = [...node.names].toReversed();
    let text = "";
    for (const [key, element] of entriesOf(value)) {
      if (of !== undefined) inner[of] = element;
      if (at !== undefined) inner[at] = key;
      text += this.printed(node.body, element, Object.create(inner) as Named);
    }
    return text;
  }

  private value(pipeline: Pipeline, dot: Value, scope: Named): Value {
    let last: Value[] = [];
    for (const { head, args } of pipeline) {
      const of = (term: Term): Value => {
        if (term.kind === "literal") return term.value;
        if (term.kind === "nested") return this.value(term.of, dot, scope);
        if (term.kind === "function") return this.call(term.name, []);
        const root = term.root === "." ? dot : scope[term.root];
        return term.fields.reduce<Value>((at, field) => (at as Named | null | undefined)?.[field], root);
      };
      if (head.kind === "function") last = [this.call(head.name, [...args.map(of), ...last])];
      else last = [of(head)];
    }
    return last[0];
  }

  private call(name: string, given: Value[]): Value {
    const called = this.functions[name];
    if (called === undefined) throw new Error(`no function is called ${name}`);
    return called(...(given as never[]));
  }
}

export const isTrue = (value: Value): boolean =>
  Array.isArray(value)
    ? value.length > 0
    : typeof value === "object" && value !== null
      ? Object.keys(value).length > 0
      : Boolean(value);

/** As Go prints it. */
export const textOf = (value: Value): string =>
  value === null || value === undefined
    ? ""
    : typeof value === "object"
      ? JSON.stringify(value)
      : String(value);

function entriesOf(value: Value): [string | number, Value][] {
  if (Array.isArray(value)) return value.map((element, index) => [index, element]);
  return Object.entries((value ?? {}) as Named).sort(([a], [b]) => (a < b ? -1 : 1));
}

/** `{{-` trims the whitespace before it, `-}}` the whitespace after it. */
function tokensOf(source: string): Token[] {
  const tokens: Token[] = [];
  let trimmed = false;
  let at = 0;
  for (const { index, 0: whole, 1: action = "" } of source.matchAll(
    /\{\{((?:"(?:\\.|[^"])*"|[^"])*?)\}\}/g,
  )) {
    const text = source.slice(at, index);
    const from = trimmed ? text.trimStart() : text;
    tokens.push({ text: action.startsWith("-") ? from.trimEnd() : from });
    trimmed = action.endsWith("-");
    at = index + whole.length;
    const said = action.replace(/^-|-$/g, "").trim();
    if (!said.startsWith("/*")) tokens.push({ action: said });
  }
  tokens.push({ text: trimmed ? source.slice(at).trimStart() : source.slice(at) });
  return tokens;
}

class Reader {
  private at = 0;

  constructor(
    private readonly tokens: readonly Token[],
    private readonly defined: Map<string, Node[]>,
  ) {}

  /** Parses up to one of those words, or to the end of the file. */
  block(until: readonly string[]): { nodes: Node[]; ended: string } {
    const nodes: Node[] = [];
    for (;;) {
      const token = this.tokens[this.at++];
      if (token === undefined) {
        if (until.length > 0) throw new Error(`no ${until.join(" or ")}`);
        return { nodes, ended: "" };
      }
      if ("text" in token) {
        if (token.text !== "") nodes.push({ kind: "text", text: token.text });
        continue;
      }
      const [word = ""] = token.action.split(/\s/, 1);
      if (until.includes(word)) return { nodes, ended: token.action };
      const node = this.node(word, token.action);
      if (node !== null) nodes.push(node);
    }
  }

  private node(word: string, action: string): Node | null {
    const said = action.slice(word.length).trim();
    if (word === "define") {
      this.defined.set(said.slice(1, -1), this.block(["end"]).nodes);
      return null;
    }
    if (word === "if" || word === "with") return this.choice(word, said);
    if (word === "range") {
      const [, names = "", of = said] = /^((?:\$\w+(?:, )?)+) := (.*)$/s.exec(said) ?? [];
      return {
        kind: "range",
        names: names.match(/\$\w+/g) ?? [],
        of: pipelineOf(of),
        body: this.block(["end"]).nodes,
      };
    }
    const [, name, of = ""] = /^(\$\w+) :?= (.*)$/s.exec(action) ?? [];
    if (name !== undefined) return { kind: "set", name, of: pipelineOf(of) };
    return { kind: "print", of: pipelineOf(action) };
  }

  private choice(kind: "if" | "with", of: string): Node {
    const { nodes: body, ended } = this.block(["else", "end"]);
    if (ended === "end") return { kind, of: pipelineOf(of), body, otherwise: [] };
    const [, again] = /^else if (.*)$/s.exec(ended) ?? [];
    const otherwise = again === undefined ? this.block(["end"]).nodes : [this.choice("if", again)];
    return { kind, of: pipelineOf(of), body, otherwise };
  }
}

const WORD = /\s*("(?:\\.|[^"\\])*"|[()|]|[^\s()|"]+)/y;

function pipelineOf(text: string): Pipeline {
  const words: string[] = [];
  WORD.lastIndex = 0;
  for (let at = WORD.exec(text); at !== null; at = WORD.exec(text)) words.push(at[1] ?? "");
  const pipeline = callsIn(words);
  if (words.length > 0) throw new Error(`more than is understood: ${text}`);
  return pipeline;
}

/** Consumes words from the front, up to a closing bracket. */
function callsIn(words: string[]): Pipeline {
  const calls: Pipeline = [];
  let terms: Term[] = [];
  const end = (): void => {
    const [head, ...args] = terms;
    if (head === undefined) throw new Error("nothing is called");
    calls.push({ head, args });
    terms = [];
  };
  for (;;) {
    const word = words.shift();
    if (word === "|") end();
    else if (word === undefined || word === ")") {
      end();
      return calls;
    } else terms.push(word === "(" ? { kind: "nested", of: callsIn(words) } : termOf(word));
  }
}

function termOf(word: string): Term {
  if (word.startsWith('"')) return { kind: "literal", value: JSON.parse(word) as string };
  if (/^-?\d/.test(word)) return { kind: "literal", value: Number(word) };
  if (word === "true" || word === "false") return { kind: "literal", value: word === "true" };
  const [, root, path = ""] = /^(\$\w*|(?=\.))((?:\.\w*)*)$/.exec(word) ?? [];
  if (root === undefined) return { kind: "function", name: word };
  return {
    kind: "path",
    root: root === "" ? "." : (root as `$${string}`),
    fields: path.split(".").filter((field) => field !== ""),
  };
}
