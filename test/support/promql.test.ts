// Tests the parser and the evaluator of queries on figures with known results.
import { expect, test } from "bun:test";
import { type Look, namedIn, parseQuery } from "./promql.ts";
import { evaluate } from "./promql-eval.ts";

const look = (atS: number, samples: [string, Record<string, string>, number][]): Look => ({
  atS,
  scrape: {
    families: [],
    samples: samples.map(([name, labels, value]) => ({ name, family: name, labels, value })),
  },
});
const LOOKS = [
  look(0, [
    ["calls_total", { route: "a", outcome: "ok" }, 10],
    ["calls_total", { route: "b", outcome: "ok" }, 100],
  ]),
  look(60, [
    ["calls_total", { route: "a", outcome: "ok" }, 40],
    ["calls_total", { route: "b", outcome: "ok" }, 6],
    ["calls_total", { route: "b", outcome: "bad" }, 3],
    ["up", {}, 1],
    ["took_bucket", { le: "1" }, 5],
    ["took_bucket", { le: "2" }, 10],
    ["took_bucket", { le: "+Inf" }, 10],
  ]),
];
const result = (query: string, nowS?: number): [Record<string, string>, number][] =>
  evaluate(parseQuery(query), LOOKS, nowS).map(({ labels, value }) => [labels, value]);

test.each<[string, [Record<string, string>, number][]]>([
  ["up", [[{}, 1]]],
  ['rate(calls_total{route="a"}[5m])', [[{ route: "a", outcome: "ok" }, 0.5]]],
  // b fell from 100 to 6, so it was reset; its other series occurs only once, and has no increase.
  [
    "sum by (route) (increase(calls_total[5m]))",
    [
      [{ route: "a" }, 30],
      [{ route: "b" }, 6],
    ],
  ],
  ["sum(increase(calls_total[5m]))", [[{}, 36]]],
  ["increase(calls_total[30s])", []],
  ['calls_total{outcome!="ok"}', [[{ route: "b", outcome: "bad" }, 3]]],
  ['count(calls_total{route=~"a|b"})', [[{}, 3]]],
  ['calls_total{route!~"a|c"} > 5', [[{ route: "b", outcome: "ok" }, 6]]],
  ['sum by (route) (calls_total{outcome="bad"}) / sum by (route) (calls_total)', [[{ route: "b" }, 1 / 3]]],
  ["1 + 2 * 3", [[{}, 7]]],
  ["(1 + 2) * 3", [[{}, 9]]],
  ["time() - up > 90", [[{}, 99]]],
  ["absent(nothing)", [[{}, 1]]],
  ["absent(up)", []],
  ["histogram_quantile(0.75, sum by (le) (took_bucket))", [[{}, 1.5]]],
  ["clamp_min(up, 4)", [[{}, 4]]],
  ["up == 1 and up > 1", []],
  ["up unless nothing", [[{}, 1]]],
  [
    "max by (route) (calls_total) or up",
    [
      [{ route: "a" }, 40],
      [{ route: "b" }, 6],
      [{}, 1],
    ],
  ],
])("%s", (query, expected) => {
  expect(result(query, 100)).toEqual(expected);
});

test.each(["sum by (x", "rate(x)", "topk(3, x)", "x[5m]", "x }", "x{a=b}", "x offset 5m", "", "$route"])(
  "%p is refused rather than misread",
  (query) => {
    expect(() => result(query)).toThrow();
  },
);

test("the metrics and labels that a query names", () => {
  expect(namedIn(parseQuery('sum by (a, b) (rate(x_total{c="d"}[1m])) / y'))).toEqual([
    { name: "x_total", labels: ["c", "a", "b"] },
    { name: "y", labels: [] },
  ]);
});
