// The filters of usage: all of them are in the address.
import { Button } from "@mantine/core";
import { USAGE_GROUPS } from "../../../src/domain/usage-words.ts";
import { Choice } from "../../components/choice.tsx";
import { FilterRow } from "../../components/filters.tsx";
import { KeyFilter, ModelFilter } from "../../components/spend-filters.tsx";
import { TimeWindow, windowShape } from "../../components/time-window.tsx";
import { type Filters, oneOf, type SetFilters, text } from "../../filters.ts";
import { tableTexts } from "../../components/texts.ts";
import { usageTexts as words } from "./texts.ts";
import { MEASURES } from "./buckets.ts";

export const SHAPE = {
  ...windowShape("30d"),
  group_by: oneOf(USAGE_GROUPS, "model"),
  then_by: oneOf(["", ...USAGE_GROUPS], ""),
  measure: oneOf(MEASURES, "charge_usd"),
  cumulative: oneOf(["", "true"], ""),
  key: text(),
  model: text(),
};
export type UsageShape = Filters<typeof SHAPE>;

const NOTHING = { key: "", model: "" } as const;
export const isNarrowed = ({ key, model }: UsageShape): boolean => key !== "" || model !== "";

interface UsageFiltersProps {
  org: string;
  filters: UsageShape;
  set: SetFilters<typeof SHAPE>;
}

export const ClearFilters = ({ set }: Pick<UsageFiltersProps, "set">) => (
  <Button variant="subtle" onClick={() => set(NOTHING)}>
    {tableTexts.clear}
  </Button>
);

export const UsageFilters = ({ org, filters, set }: UsageFiltersProps) => (
  <FilterRow>
    <TimeWindow filters={filters} set={set} />
    <KeyFilter org={org} value={filters.key} set={(key) => set({ key })} />
    <ModelFilter org={org} value={filters.model} set={(model) => set({ model })} />
    <Choice
      label={words.groupBy}
      kept
      value={filters.group_by}
      of={SHAPE.group_by}
      set={(group_by) => set({ group_by, then_by: "" })}
      data={USAGE_GROUPS.map((value) => ({ value, label: words.groups[value] }))}
    />
    <Choice
      label={words.thenBy}
      value={filters.then_by}
      of={SHAPE.then_by}
      set={(then_by) => set({ then_by })}
      data={[
        { value: "", label: words.noSecond },
        ...USAGE_GROUPS.filter((value) => value !== filters.group_by).map((value) => ({
          value,
          label: words.groups[value],
        })),
      ]}
    />
    <Choice
      label={words.measure}
      kept
      value={filters.measure}
      of={SHAPE.measure}
      set={(measure) => set({ measure })}
      data={MEASURES.map((value) => ({ value, label: words.measures[value] }))}
    />
    <Button
      variant={filters.cumulative === "" ? "default" : "filled"}
      aria-pressed={filters.cumulative !== ""}
      onClick={() => set(({ cumulative }) => ({ cumulative: cumulative === "" ? "true" : "" }))}
    >
      {words.cumulative}
    </Button>
    {isNarrowed(filters) && <ClearFilters set={set} />}
  </FilterRow>
);
