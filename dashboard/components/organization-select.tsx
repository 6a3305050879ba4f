// Choosing one of all organizations.
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { organizationQuery } from "../api/organization.ts";
import { readPages } from "../api/read.ts";
import { type ChooserProps, SearchSelect, useTyped, withChosen } from "./search-select.tsx";

export function OrganizationSelect(props: ChooserProps) {
  const { data } = useQuery(organizationQuery(props.value));
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

const optionOf = ({ id, name }: { id: string; name: string }) => ({ value: id, label: name });
