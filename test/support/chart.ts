// A Helm chart, processed as Helm does: the given values over its defaults, its schema, its templates.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { parse, parseAllDocuments, stringify } from "yaml";
import { z } from "zod";
import { isTrue, type TemplateFunction, Templates, textOf, type Value } from "./go-template.ts";

export type Values = Record<string, Value>;

export interface Rendered {
  kind: string;
  metadata: { name: string; annotations?: Record<string, string> };
  spec: Record<string, never>;
  data: Record<string, string>;
}

/** Thrown where a template must not go on: Helm's `fail` and `required`. */
export class ChartRefusal extends Error {}

export class Chart {
  readonly values: Values;
  readonly schema: z.ZodType;
  private readonly about: Record<string, string>;
  private readonly templates = new Templates(FUNCTIONS);
  private readonly paths: string[];

  constructor(readonly folder: string) {
    const text = (path: string): string => readFileSync(join(folder, path), "utf8");
    this.values = parse(text("values.yaml")) as Values;
    this.schema = z.fromJSONSchema(JSON.parse(text("values.schema.json")) as never);
    this.about = parse(text("Chart.yaml")) as Record<string, string>;
    this.paths = [...new Bun.Glob("templates/*").scanSync(folder)].toSorted();
    for (const path of this.paths) this.templates.add(path, text(path));
  }

  /** The concatenated templates, unrendered. */
  get source(): string {
    return this.paths.map((path) => readFileSync(join(this.folder, path), "utf8")).join("\n");
  }

  /** Throws `ChartRefusal` for contradictory values. */
  render(given: Values): Rendered[] {
    const dot = {
      Values: merged(this.values, given),
      Release: { Name: "t", Namespace: "default", Service: "Helm" },
      Chart: {
        Name: this.about["name"],
        Version: this.about["version"],
        AppVersion: this.about["appVersion"],
      },
      Template: { BasePath: "templates" },
    };
    return this.paths
      .filter((path) => /^[^_].*\.yaml$/.test(basename(path)))
      .flatMap((path) => parseAllDocuments(this.templates.render(path, dot)))
      .map((document) => document.toJS() as Rendered | null)
      .filter((document) => document !== null);
  }
}

const isMap = (value: Value): value is Values =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Merges the given values over the defaults; a list replaces a list. */
export function merged(there: Values, given: Values): Values {
  const both: Values = { ...there };
  for (const [name, value] of Object.entries(given)) {
    const below = both[name];
    both[name] = isMap(value) && isMap(below) ? merged(below, value) : value;
  }
  return both;
}

const refuse = (message: string): never => {
  throw new ChartRefusal(message);
};

/** The functions of Go, Sprig and Helm that the chart uses. */
const FUNCTIONS: Record<string, TemplateFunction> = {
  add: (...numbers: number[]) => numbers.reduce((sum, number) => sum + number, 0),
  and: (...values: Value[]) => values.find((value) => !isTrue(value)) ?? values.at(-1),
  contains: (part: string, text: string) => text.includes(part),
  default: (otherwise: Value, value: Value) => (isTrue(value) ? value : otherwise),
  dict: (...pairs: Value[]) =>
    Object.fromEntries(pairs.flatMap((name, at) => (at % 2 === 0 ? [[textOf(name), pairs[at + 1]]] : []))),
  div: (a: number, b: number) => Math.trunc(a / b),
  fail: refuse,
  get: (map: Values, name: string) => map[name] ?? "",
  gt: (a: number, b: number) => a > b,
  hasKey: (map: Values, name: string) => Object.hasOwn(map, name),
  hasPrefix: (prefix: string, text: string) => text.startsWith(prefix),
  int: (value: Value) => Math.trunc(Number(value)) || 0,
  join: (between: string, list: Value[]) => list.map(textOf).join(between),
  list: (...elements: Value[]) => elements,
  lt: (a: number, b: number) => a < b,
  merge: (above: Values, below: Values) => merged(below, above),
  mul: (a: number, b: number) => a * b,
  nindent: (by: number, text: string) => `\n${text.replace(/^/gm, " ".repeat(by))}`,
  not: (value: Value) => !isTrue(value),
  omit: (map: Values, ...names: string[]) =>
    Object.fromEntries(Object.entries(map).filter(([name]) => !names.includes(name))),
  print: (...values: Value[]) => values.map(textOf).join(""),
  printf: (format: string, ...values: Value[]) => {
    let at = 0;
    return format.replace(/%[dsq]/g, (verb) =>
      verb === "%q" ? JSON.stringify(values[at++]) : textOf(values[at++]),
    );
  },
  quote: (value: Value) => JSON.stringify(textOf(value)),
  regexFind: (pattern: string, text: string) => new RegExp(pattern).exec(text)?.[0] ?? "",
  regexMatch: (pattern: string, text: string) => new RegExp(pattern).test(text),
  required: (message: string, value: Value) =>
    value === undefined || value === null || value === "" ? refuse(message) : value,
  sha256sum: (text: string) => createHash("sha256").update(text).digest("hex"),
  ternary: (yes: Value, no: Value, value: Value) => (isTrue(value) ? yes : no),
  toYaml: (value: Value) => stringify(value, { lineWidth: 0, sortMapEntries: true }).trimEnd(),
  trimPrefix: (prefix: string, text: string) => (text.startsWith(prefix) ? text.slice(prefix.length) : text),
  trimSuffix: (suffix: string, text: string) =>
    text.endsWith(suffix) ? text.slice(0, -suffix.length) : text,
  trunc: (length: number, text: string) => text.slice(0, length),
  tuple: (...elements: Value[]) => elements,
};
