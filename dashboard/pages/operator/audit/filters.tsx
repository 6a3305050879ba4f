// The filters of the operator's audit log: organization, actor, action, target, and days in UTC.
import { useQuery } from "@tanstack/react-query";
import { read } from "../../../api/read.ts";
import { FilterRow } from "../../../components/filters.tsx";
import { OrganizationFilter } from "../../../components/organization-select.tsx";
import { SearchSelect, useTyped, withChosen } from "../../../components/search-select.tsx";
import { SearchField } from "../../../components/search-field.tsx";
import { type Filters, type SetFilters, text } from "../../../filters.ts";
import { auditTexts as words } from "../../audit/texts.ts";
import { askedWindow, TimeWindow, windowShape } from "../../../components/time-window.tsx";
import type { Row } from "../../../api/routes.ts";
import type { Query } from "../../../api/client.ts";

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
    <OrganizationFilter value={filters.org} set={(org) => set({ org })} />
    <ActorSelect value={filters.actor} onChange={(actor) => set({ actor })} />
    <SearchField
      label={words.filters.action}
      value={filters.action}
      onSearch={(action) => set({ action }, { typed: true })}
    />
  </FilterRow>
);

/** People and management keys by name; other actors come from a link. */
function ActorSelect({ value, onChange }: { value: string; onChange: (actor: string) => void }) {
  const [isPerson, isKey] = [value.startsWith("usr_"), value.startsWith("mk_")];
  const { data } = useQuery({ ...read("GET /operator/people", {}, { search: value }), enabled: isPerson });
  const { data: named } = useQuery({
    ...read("GET /operator/management-keys", {}, { search: value }),
    enabled: isKey,
  });
  const person = data?.data.find((one) => one.person.id === value);
  const key = named?.data.find(({ id }) => id === value);
  const chosen = person ? personOption(person) : key && keyOption(key);
  const typed = useTyped(chosen);
  const wanted = { search: typed.search };
  const people = useQuery({ ...read("GET /operator/people", {}, wanted), enabled: typed.opened });
  const keys = useQuery({ ...read("GET /operator/management-keys", {}, wanted), enabled: typed.opened });
  const isComing = (isPerson && data === undefined) || (isKey && named === undefined);
  return (
    <SearchSelect
      label={words.filters.actor}
      placeholder={words.anybody}
      typed={typed}
      isFetching={people.isFetching || keys.isFetching}
      found={[
        ...(value === "" || chosen !== undefined || isComing ? [] : [value]),
        {
          group: words.people,
          items: withChosen(person && personOption(person), (people.data?.data ?? []).map(personOption)),
        },
        {
          group: words.keys,
          items: withChosen(key && keyOption(key), (keys.data?.data ?? []).map(keyOption)),
        },
      ]}
      value={value}
      onChange={onChange}
    />
  );
}

const personOption = ({ person, email }: Row<"GET /operator/people">) => ({
  value: person.id,
  label: person.name === null ? email : `${person.name} · ${email}`,
});

const keyOption = ({ id, name }: Row<"GET /operator/management-keys">) => ({ value: id, label: name });

export const asked = ({ org, actor, action, target, ...window }: Audited): Query => ({
  org,
  actor,
  action,
  target,
  ...askedWindow(window),
});
