// What the operator's audit log is narrowed to: an organization, who did it, what was done to what, and days in UTC.
import { Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { read } from "../../../api/read.ts";
import { FITTING } from "../../../components/choice.tsx";
import { chipOf, FilterRow } from "../../../components/filters.tsx";
import { OrganizationSelect } from "../../../components/organization-select.tsx";
import { SearchField } from "../../../components/search-field.tsx";
import { type Filters, type SetFilters, text } from "../../../filters.ts";
import { auditTexts as words } from "../../audit/texts.ts";
import { askedWindow, TimeWindow, windowShape } from "../../../components/time-window.tsx";
import type { Query } from "../../../api/client.ts";
import { tableTexts } from "../../../components/texts.ts";

export const SHAPE = { ...windowShape(""), org: text(), actor: text(), action: text(), target: text() };
type Audited = Filters<typeof SHAPE>;

interface AuditFiltersProps {
  filters: Audited;
  set: SetFilters<typeof SHAPE>;
}

export const AuditFilters = ({ filters, set }: AuditFiltersProps) => (
  <FilterRow>
    <SearchField
      label={words.filters.target}
      value={filters.target}
      onSearch={(target) => set({ target }, { typed: true })}
    />
    <TimeWindow filters={filters} set={set} all />
    <OrganizationSelect
      label={words.filters.org}
      placeholder={words.everywhere}
      value={filters.org}
      onChange={(org) => set({ org })}
    />
    <ActorSelect value={filters.actor} onChange={(actor) => set({ actor })} />
    <SearchField
      label={words.filters.action}
      value={filters.action}
      onSearch={(action) => set({ action }, { typed: true })}
    />
  </FilterRow>
);

/** People and management keys by name; whoever else acted comes by a link. */
function ActorSelect({ value, onChange }: { value: string; onChange: (actor: string) => void }) {
  const people = useQuery(read("GET /operator/people", {})).data?.data ?? [];
  const keys = useQuery(read("GET /operator/management-keys", {})).data?.data ?? [];
  const known =
    value === "" || [...people.map(({ person }) => person), ...keys].some(({ id }) => id === value);
  return (
    <Select
      label={words.filters.actor}
      placeholder={words.anybody}
      searchable
      clearable
      comboboxProps={FITTING}
      {...chipOf(value !== "")}
      clearButtonProps={{ "aria-label": tableTexts.clear }}
      nothingFoundMessage={tableTexts.noMatch}
      data={[
        ...(known ? [] : [value]),
        {
          group: words.people,
          items: people.map(({ person, email }) => ({
            value: person.id,
            label: person.name === null ? email : `${person.name} · ${email}`,
          })),
        },
        { group: words.keys, items: keys.map(({ id, name }) => ({ value: id, label: name })) },
      ]}
      value={value === "" ? null : value}
      onChange={(next) => onChange(next ?? "")}
    />
  );
}

export const asked = ({ org, actor, action, target, ...window }: Audited): Query => ({
  org,
  actor,
  action,
  target,
  ...askedWindow(window),
});
