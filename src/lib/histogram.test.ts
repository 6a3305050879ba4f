import { expect, test } from "bun:test";
import { Histogram, labelText, metricHead } from "./histogram.ts";

test("an observation counts in the first bucket that holds it and all above, and in sum and count", () => {
  const histogram = new Histogram([1, 5]);
  for (const value of [0.5, 1, 3, 7]) histogram.observe(value);
  expect(histogram.lines("took_seconds", 'route="a"')).toBe(
    [
      'took_seconds_bucket{route="a",le="1"} 2',
      'took_seconds_bucket{route="a",le="5"} 3',
      'took_seconds_bucket{route="a",le="+Inf"} 4',
      'took_seconds_sum{route="a"} 11.5',
      'took_seconds_count{route="a"} 4',
      "",
    ].join("\n"),
  );
});

test("without labels there are no empty braces", () => {
  expect(new Histogram([1]).lines("x", "")).toBe(
    'x_bucket{le="1"} 0\nx_bucket{le="+Inf"} 0\nx_sum 0\nx_count 0\n',
  );
});

test("a label's value stays one value, whatever its characters", () => {
  expect(labelText({ model: 'a"b\\c\nd', route: "r" })).toBe('model="a\\"b\\\\c\\nd",route="r"');
  expect(metricHead("x", "gauge", "Help.")).toBe("# HELP x Help.\n# TYPE x gauge\n");
});
