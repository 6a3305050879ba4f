// The filters of the requests of all organizations: all of them are in the address.
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { ACTIVITY_STATES } from "../../../../src/domain/activity-states.ts";
import { SURFACES } from "../../../../src/domain/surfaces.ts";
import type { Query } from "../../../api/client.ts";
import { read } from "../../../api/read.ts";
import { FilterRow } from "../../../components/filters.tsx";
import { OrganizationFilter } from "../../../components/organization-select.tsx";
import { SearchField } from "../../../components/search-field.tsx";
import { ModelChoice } from "../../../components/spend-filters.tsx";
import { tableTexts } from "../../../components/texts.ts";
import { askedWindow, TimeWindow, windowShape } from "../../../components/time-window.tsx";
import { type Filters, oneOf, type SetFilters, text } from "../../../filters.ts";
import { CodeFilter, StateFilter, SurfaceFilter } from "../../activity/filters.tsx";
import { activityTexts } from "../../activity/texts.ts";

export const SHAPE = {
  ...windowShape("24h"),
  org: text(),
  state: oneOf(["", ...ACTIVITY_STATES], ""),
  model: text(),
  surface: oneOf(["", ...SURFACES], ""),
  code: text(),
  find: text(),
  /** The cursor of a page of older rows; empty: the newest. */
  before: text(),
  req: text(),
};
type Listed = Omit<Filters<typeof SHAPE>, "req">;

const NOTHING = { org: "", state: "", model: "", surface: "", code: "", find: "" } as const;
/** The shortest search; a shorter text is still being typed. */
const LEAST_TYPED = 4;

/** True if anything other than the time narrows the list. */
export const isNarrowed = (filters: Listed): boolean =>
  (Object.keys(NOTHING) as (keyof typeof NOTHING)[]).some((name) => filters[name] !== "");

/** A search covers all time: a person who has an id rarely knows its day. */
export function askedOf(filters: Listed): Query {
  const { org, state, model, surface, code } = filters;
  const find = filters.find.trim();
  return find.length < LEAST_TYPED
    ? { ...askedWindow(filters), org, state, model, surface, code }
    : { find, org };
}

interface FiltersProps {
  filters: Listed;
  set: SetFilters<typeof SHAPE>;
}

export const RequestFilters = ({ filters, set }: FiltersProps) => (
  <FilterRow>
    <SearchField
      label={activityTexts.find}
      placeholder={activityTexts.findHint}
      value={filters.find}
      onSearch={(find) => set({ find }, { typed: true })}
    />
    <TimeWindow filters={filters} set={set} />
    <OrganizationFilter value={filters.org} set={(org) => set({ org })} />
    <StateFilter value={filters.state} set={(state) => set({ state })} />
    <ModelFilter value={filters.model} set={(model) => set({ model })} />
    <CodeFilter value={filters.code} set={(code) => set({ code })} />
    <SurfaceFilter value={filters.surface} set={(surface) => set({ surface })} />
    {isNarrowed(filters) && (
      <Button variant="subtle" onClick={() => set(NOTHING)}>
        {tableTexts.clear}
      </Button>
    )}
  </FilterRow>
);

/** Every model that has a route, whoever may use it. */
function ModelFilter({ value, set }: { value: string; set: (model: string) => void }) {
  const { data } = useQuery(read("GET /operator/routes", {}));
  return <ModelChoice ids={(data?.data ?? []).flatMap(({ model }) => model ?? [])} value={value} set={set} />;
}
