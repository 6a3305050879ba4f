// The time range of a page that offers a few fixed ones; the page's own shape parses the one in the address.
import { SegmentedControl } from "@mantine/core";
import type { Filter } from "../filters.ts";
import { rangeChoiceTexts as words } from "./texts.ts";

interface RangeChoiceProps<Range extends string> {
  ranges: readonly Range[];
  value: Range;
  of: Filter<Range>;
  set: (range: Range) => void;
}

export const RangeChoice = <Range extends keyof typeof words.ranges>({
  ranges,
  value,
  of,
  set,
}: RangeChoiceProps<Range>) => (
  <SegmentedControl
    aria-label={words.label}
    size="xs"
    value={value}
    onChange={(chosen) => set(of(chosen))}
    data={ranges.map((range) => ({ value: range, label: words.ranges[range] }))}
  />
);
