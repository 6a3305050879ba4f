// A select for one of all organizations: in a form, and as a page's filter.
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { organizationQuery } from "../api/organization.ts";
import { readPages } from "../api/read.ts";
import { nameAmong, useNamesakes } from "./organization-name.tsx";
import { tableTexts } from "./texts.ts";
import { type ChooserProps, type Option, SearchSelect, useTyped, withChosen } from "./search-select.tsx";

export function OrganizationSelect(props: ChooserProps) {
  const { data } = useQuery(organizationQuery(props.value));
  const namesakes = useNamesakes();
  const optionOf = (one: { id: string; name: string }): Option => ({
    value: one.id,
    label: nameAmong(namesakes, one),
  });
  const chosen = data && optionOf(data);
  const typed = useTyped(chosen);
  const { data: found = [], isFetching } = useInfiniteQuery({
    ...readPages("GET /operator/organizations", {}, { search: typed.search }),
    enabled: typed.opened,
  });
  return (
    <SearchSelect
      {...props}
      typed={typed}
      found={withChosen(chosen, found.map(optionOf))}
      isFetching={isFetching}
    />
  );
}

/** On operator pages: shows only the rows of one organization. */
export const OrganizationFilter = ({ value, set }: { value: string; set: (org: string) => void }) => (
  <OrganizationSelect
    label={tableTexts.organization}
    placeholder={tableTexts.all}
    value={value}
    onChange={set}
  />
);
