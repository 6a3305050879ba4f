// What is shown of the activity: all of it is in the address.
import { Button, Select } from "@mantine/core";
import { ACTIVITY_STATES } from "../../../src/domain/activity-states.ts";
import { SURFACES } from "../../../src/domain/surfaces.ts";
import { REFUSALS } from "../../../src/domain/refusals.ts";
import type { Query } from "../../api/client.ts";
import { Choice, FITTING } from "../../components/choice.tsx";
import { chipOf, FilterRow } from "../../components/filters.tsx";
import { SearchField } from "../../components/search-field.tsx";
import { askedWindow, TimeWindow, windowShape } from "../../components/time-window.tsx";
import { KeyFilter, ModelFilter } from "../../components/spend-filters.tsx";
import { type Filters, oneOf, type SetFilters, text } from "../../filters.ts";
import { formatTime } from "../../format/time.ts";
import { activityTexts as words } from "./texts.ts";
import { activityStateNames, spendFilterTexts, tableTexts } from "../../components/texts.ts";

export const SHAPE = {
  ...windowShape("7d"),
  state: oneOf(["", ...ACTIVITY_STATES], ""),
  model: text(),
  key: text(),
  surface: oneOf(["", ...SURFACES], ""),
  code: text(),
  live: oneOf(["", "true"], ""),
  find: text(),
  /** The cursor of a page of older rows; empty: the newest. */
  before: text(),
  req: text(),
};
type ActivityShape = Omit<Filters<typeof SHAPE>, "req">;

const NOTHING = { state: "", model: "", key: "", surface: "", code: "", find: "" } as const;

/** What narrows the list, apart from the time. */
export const isNarrowed = (filters: ActivityShape): boolean =>
  (Object.keys(NOTHING) as (keyof typeof NOTHING)[]).some((name) => filters[name] !== "");

/** A search goes through all time: whoever has an id rarely knows its day. */
export function askedOf(filters: ActivityShape): Query {
  const { state, model, key, surface, code, find } = filters;
  const others = { state, model, key, surface, code };
  return find === "" ? { ...askedWindow(filters), ...others } : { find, ...others };
}

interface FiltersProps {
  org: string;
  filters: ActivityShape;
  set: SetFilters<typeof SHAPE>;
}

/** A bar of a chart names its bucket by two instants, which the control of days cannot say. */
const isBucket = ({ from }: ActivityShape): boolean => from.includes("T");

export const ActivityFilters = ({ org, filters, set }: FiltersProps) => (
  <FilterRow>
    <SearchField
      label={words.find}
      placeholder={words.findHint}
      value={filters.find}
      onSearch={(find) => set({ find }, { typed: true })}
    />
    <TimeWindow filters={filters} set={set} />
    <Choice
      label={words.state}
      value={filters.state}
      of={SHAPE.state}
      set={(state) => set({ state })}
      data={[
        { value: "", label: words.all },
        ...ACTIVITY_STATES.map((value) => ({ value, label: activityStateNames[value] })),
      ]}
    />
    <KeyFilter org={org} value={filters.key} set={(key) => set({ key })} />
    <ModelFilter org={org} value={filters.model} set={(model) => set({ model })} />
    <Choice
      label={words.surface}
      value={filters.surface}
      of={SHAPE.surface}
      set={(surface) => set({ surface })}
      data={[{ value: "", label: words.all }, ...SURFACES]}
    />
    <Select
      label={words.code}
      searchable
      comboboxProps={FITTING}
      {...chipOf(filters.code !== "")}
      clearable
      clearButtonProps={{ "aria-label": spendFilterTexts.clear(words.code) }}
      placeholder={words.all}
      value={filters.code === "" ? null : filters.code}
      onChange={(value) => set({ code: value ?? "" })}
      data={[...new Set([...Object.keys(REFUSALS), filters.code])].filter((code) => code !== "").sort()}
    />
    {isBucket(filters) && (
      <Button variant="subtle" onClick={() => set({ from: "", to: "" })}>
        {words.window(formatTime(filters.from), formatTime(filters.to))}
      </Button>
    )}
    {isNarrowed(filters) && (
      <Button variant="subtle" onClick={() => set(NOTHING)}>
        {tableTexts.clear}
      </Button>
    )}
  </FilterRow>
);
