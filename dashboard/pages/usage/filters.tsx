// What is shown of the usage: all of it is in the address.
import { Button, Group, SegmentedControl, Select } from "@mantine/core";
import { type Filters, oneOf, text } from "../../filters.ts";
import { texts } from "../../texts.ts";
import { MEASURES } from "./buckets.ts";

const words = texts.usage;
const GROUPS = ["model", "key", "member", "scope", "provider", "region"] as const;
export const SHAPE = {
  range: oneOf(["24h", "7d", "30d", "month"], "30d"),
  group_by: oneOf(GROUPS, "model"),
  then_by: oneOf(["", ...GROUPS], ""),
  measure: oneOf(MEASURES, "charge_usd"),
  cumulative: oneOf(["", "true"], ""),
  key: text(),
  model: text(),
};
export type UsageShape = Filters<typeof SHAPE>;

interface UsageFiltersProps {
  filters: UsageShape;
  set: (change: Partial<UsageShape>) => void;
}

export const UsageFilters = ({ filters, set }: UsageFiltersProps) => (
  <Group gap="sm" align="flex-end">
    <Select
      label={words.range}
      w={160}
      allowDeselect={false}
      value={filters.range}
      onChange={(value) => set({ range: SHAPE.range(value ?? undefined) })}
      data={Object.entries(texts.ranges).map(([value, label]) => ({ value, label }))}
    />
    <Select
      label={words.groupBy}
      w={130}
      allowDeselect={false}
      value={filters.group_by}
      onChange={(value) => set({ group_by: SHAPE.group_by(value ?? undefined), then_by: "" })}
      data={GROUPS.map((value) => ({ value, label: words.groups[value] }))}
    />
    <Select
      label={words.thenBy}
      w={130}
      allowDeselect={false}
      value={filters.then_by}
      onChange={(value) => set({ then_by: SHAPE.then_by(value ?? undefined) })}
      data={[
        { value: "", label: words.noSecond },
        ...GROUPS.filter((value) => value !== filters.group_by).map((value) => ({
          value,
          label: words.groups[value],
        })),
      ]}
    />
    <SegmentedControl
      aria-label={words.measure}
      value={filters.measure}
      onChange={(value) => set({ measure: SHAPE.measure(value) })}
      data={MEASURES.map((value) => ({ value, label: words.measures[value] }))}
      visibleFrom="lg"
    />
    <Select
      label={words.measure}
      w={160}
      allowDeselect={false}
      hiddenFrom="lg"
      value={filters.measure}
      onChange={(value) => set({ measure: SHAPE.measure(value ?? undefined) })}
      data={MEASURES.map((value) => ({ value, label: words.measures[value] }))}
    />
    <Button
      variant={filters.cumulative === "" ? "default" : "filled"}
      aria-pressed={filters.cumulative !== ""}
      onClick={() => set({ cumulative: filters.cumulative === "" ? "true" : "" })}
    >
      {words.cumulative}
    </Button>
  </Group>
);
