// Evaluates a query over scrapes: the part of Prometheus that `promql.ts` parses.
import type { Expr, Look, Series } from "./promql.ts";

type Value = number | Series[];

/** The series of a query; a number is one series without labels. `nowS` is the value of `time()`. */
export function evaluate(expr: Expr, looks: readonly Look[], nowS = looks.at(-1)?.atS ?? 0): Series[] {
  const value = valueOf(expr, { looks, nowS });
  return typeof value === "number" ? [{ labels: {}, value }] : value;
}

interface Over {
  looks: readonly Look[];
  nowS: number;
}

function valueOf(expr: Expr, over: Over): Value {
  switch (expr.kind) {
    case "number":
      return expr.value;
    case "selector":
      if (expr.rangeS !== null) throw new Error(`${expr.name} over a range is only for rate and increase`);
      return found(expr, over.looks.at(-1));
    case "aggregate":
      return aggregated(expr, vector(expr.of, over));
    case "binary":
      return combined(expr.op, valueOf(expr.left, over), valueOf(expr.right, over));
    case "call":
      return called(expr, over);
  }
}

function vector(expr: Expr, over: Over): Series[] {
  const value = valueOf(expr, over);
  if (typeof value === "number") throw new Error("a number where series are wanted");
  return value;
}

type Selector = Extract<Expr, { kind: "selector" }>;

const found = ({ name, matchers }: Selector, look: Look | undefined): Series[] =>
  (look?.scrape.samples ?? [])
    .filter(
      (sample) =>
        sample.name === name &&
        matchers.every(({ label, op, value }) => {
          const own = sample.labels[label] ?? "";
          const same = op.endsWith("~") ? new RegExp(`^(?:${value})$`).test(own) : own === value;
          return op.startsWith("!") ? !same : same;
        }),
    )
    .map(({ labels, value }) => ({ labels, value }));

const keyOf = (labels: Record<string, string>, of: (name: string) => boolean = () => true): string =>
  Object.entries(labels)
    .filter(([name]) => of(name))
    .map(([name, value]) => `${name}=${value}`)
    .toSorted()
    .join("\n");

function called({ name, args }: Extract<Expr, { kind: "call" }>, over: Over): Value {
  const [first, second] = args;
  if (name === "time") return over.nowS;
  if (first === undefined) throw new Error(`${name} of nothing`);
  switch (name) {
    case "rate":
    case "increase":
      if (first.kind !== "selector" || first.rangeS === null) throw new Error(`${name} wants a range`);
      return risen(first, { ...over, perSecond: name === "rate" });
    case "absent":
      return vector(first, over).length === 0 ? [{ labels: {}, value: 1 }] : [];
    case "clamp_min":
      if (second?.kind !== "number") throw new Error("clamp_min wants a number");
      return vector(first, over).map(({ labels, value }) => ({
        labels,
        value: Math.max(value, second.value),
      }));
    case "histogram_quantile":
      if (first.kind !== "number" || second === undefined)
        throw new Error("histogram_quantile wants a number");
      return quantiles(first.value, vector(second, over));
    default:
      throw new Error(`${name} is not known here`);
  }
}

/** The increase between the first and the last scrape in the range; a counter that fell was reset. */
function risen(selector: Selector, { looks, perSecond }: Over & { perSecond: boolean }): Series[] {
  const lastS = looks.at(-1)?.atS ?? 0;
  const within = looks.filter(({ atS }) => atS >= lastS - (selector.rangeS ?? 0));
  const seen = within.map((look) => new Map(found(selector, look).map((one) => [keyOf(one.labels), one])));
  return [...(seen.at(-1) ?? [])].flatMap(([key, { labels }]) => {
    const points = seen.flatMap((look, place) => {
      const one = look.get(key);
      return one === undefined ? [] : [{ atS: within[place]?.atS ?? 0, value: one.value }];
    });
    const [first, last] = [points[0], points.at(-1)];
    if (first === undefined || last === undefined || points.length < 2) return [];
    let rise = 0;
    for (const [place, { value }] of points.entries()) {
      const before = points[place - 1]?.value ?? value;
      rise += value >= before ? value - before : value;
    }
    return [{ labels, value: perSecond ? rise / (last.atS - first.atS) : rise }];
  });
}

function aggregated({ op, by }: Extract<Expr, { kind: "aggregate" }>, series: Series[]): Series[] {
  const groups = Map.groupBy(series, ({ labels }) => keyOf(labels, (name) => by.includes(name)));
  return [...groups.values()].map((group) => {
    const values = group.map(({ value }) => value);
    const sum = values.reduce((total, value) => total + value, 0);
    const value = {
      sum,
      max: Math.max(...values),
      min: Math.min(...values),
      avg: sum / values.length,
      count: values.length,
    }[op];
    const labels = Object.fromEntries(
      Object.entries(group[0]?.labels ?? {}).filter(([name]) => by.includes(name)),
    );
    return { labels, value: value ?? Number.NaN };
  });
}

function quantiles(share: number, buckets: Series[]): Series[] {
  const groups = Map.groupBy(buckets, ({ labels }) => keyOf(labels, (name) => name !== "le"));
  return [...groups.values()].map((group) => {
    const sorted = group
      .map(({ labels, value }) => ({
        bound: Number((labels["le"] ?? "").replace("+Inf", "Infinity")),
        value,
      }))
      .toSorted((a, b) => a.bound - b.bound);
    const rank = share * (sorted.at(-1)?.value ?? 0);
    const place = sorted.findIndex(({ value }) => value >= rank);
    const { bound = Number.NaN, value = 0 } = sorted[place] ?? {};
    const below = sorted[place - 1] ?? { bound: 0, value: 0 };
    const inside =
      bound === Infinity
        ? below.bound
        : below.bound + ((bound - below.bound) * (rank - below.value)) / (value - below.value);
    const { le: _, ...labels } = group[0]?.labels ?? {};
    return { labels, value: rank === 0 ? Number.NaN : inside };
  });
}

const SUMS: Record<string, (a: number, b: number) => number> = {
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "/": (a, b) => a / b,
};
const COMPARISONS: Record<string, (a: number, b: number) => boolean> = {
  ">": (a, b) => a > b,
  "<": (a, b) => a < b,
  ">=": (a, b) => a >= b,
  "<=": (a, b) => a <= b,
  "==": (a, b) => a === b,
  "!=": (a, b) => a !== b,
};

function combined(op: string, left: Value, right: Value): Value {
  if (typeof left === "number" && typeof right === "number") return SUMS[op]?.(left, right) ?? Number.NaN;
  if (typeof right === "number") return each(left as Series[], op, () => right);
  if (typeof left === "number") {
    const sum = SUMS[op];
    if (sum === undefined) throw new Error(`a number stands on the right of ${op}`);
    return right.map(({ labels, value }) => ({ labels, value: sum(left, value) }));
  }
  const others = new Map(right.map(({ labels, value }) => [keyOf(labels), value]));
  const has = ({ labels }: Series): boolean => others.has(keyOf(labels));
  if (op === "and") return left.filter(has);
  if (op === "unless") return left.filter((one) => !has(one));
  if (op === "or") {
    const mine = new Set(left.map(({ labels }) => keyOf(labels)));
    return [...left, ...right.filter(({ labels }) => !mine.has(keyOf(labels)))];
  }
  return each(left, op, ({ labels }) => others.get(keyOf(labels)));
}

/** Arithmetic gives values; comparisons keep the series for which they hold. */
function each(series: Series[], op: string, other: (one: Series) => number | undefined): Series[] {
  return series.flatMap((one) => {
    const right = other(one);
    if (right === undefined) return [];
    const sum = SUMS[op];
    if (sum !== undefined) return [{ labels: one.labels, value: sum(one.value, right) }];
    return COMPARISONS[op]?.(one.value, right) === true ? [one] : [];
  });
}
