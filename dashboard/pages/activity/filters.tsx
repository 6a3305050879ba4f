// The filters of Activity: all of them are in the address.
import { Button } from "@mantine/core";
import { ACTIVITY_STATES } from "../../../src/domain/activity-states.ts";
import { SURFACES } from "../../../src/domain/surfaces.ts";
import { REFUSALS } from "../../../src/domain/refusals.ts";
import type { Query } from "../../api/client.ts";
import { Choice } from "../../components/choice.tsx";
import { FilterRow } from "../../components/filters.tsx";
import { SearchField } from "../../components/search-field.tsx";
import { askedWindow, TimeWindow, windowShape } from "../../components/time-window.tsx";
import { KeyFilter, KnownChoice, ModelFilter } from "../../components/spend-filters.tsx";
import { type Filters, oneOf, type SetFilters, text } from "../../filters.ts";
import { formatTime } from "../../format/time.ts";
import { activityTexts as words } from "./texts.ts";
import { activityStateNames, tableTexts } from "../../components/texts.ts";

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

/** True if anything other than the time narrows the list. */
export const isNarrowed = (filters: ActivityShape): boolean =>
  (Object.keys(NOTHING) as (keyof typeof NOTHING)[]).some((name) => filters[name] !== "");

/** A search covers all time: a person who has an id rarely knows its day. */
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

interface ChipProps<Name extends "state" | "surface" | "code"> {
  value: ActivityShape[Name];
  set: (value: ActivityShape[Name]) => void;
}

export const StateFilter = (chip: ChipProps<"state">) => (
  <Choice
    label={words.state}
    {...chip}
    of={SHAPE.state}
    data={[
      { value: "", label: words.all },
      ...ACTIVITY_STATES.map((value) => ({ value, label: activityStateNames[value] })),
    ]}
  />
);

export const SurfaceFilter = (chip: ChipProps<"surface">) => (
  <Choice
    label={words.surface}
    {...chip}
    of={SHAPE.surface}
    data={[{ value: "", label: words.all }, ...SURFACES]}
  />
);

const CODES = Object.keys(REFUSALS)
  .sort()
  .map((code) => ({ value: code, label: code }));

export const CodeFilter = (chip: ChipProps<"code">) => (
  <KnownChoice label={words.code} {...chip} choices={CODES} />
);

/** A bar of a chart sets its bucket's two instants, which the control for days cannot express. */
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
    <StateFilter value={filters.state} set={(state) => set({ state })} />
    <KeyFilter org={org} value={filters.key} set={(key) => set({ key })} />
    <ModelFilter org={org} value={filters.model} set={(model) => set({ model })} />
    <SurfaceFilter value={filters.surface} set={(surface) => set({ surface })} />
    <CodeFilter value={filters.code} set={(code) => set({ code })} />
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
