// Choosing one of all organizations: the server searches while somebody types, however many there are.
import { Select } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { organizationQuery } from "../api/organization.ts";
import { readPages } from "../api/read.ts";
import { chipOf } from "./filters.tsx";
import { stateTexts, tableTexts } from "./texts.ts";

interface OrganizationSelectProps {
  label: string;
  /** Shown where none is chosen; then none can be chosen again. */
  placeholder?: string;
  /** Empty: none. */
  value: string;
  onChange: (org: string) => void;
}

export function OrganizationSelect({ label, placeholder, value, onChange }: OrganizationSelectProps) {
  const [typed, setTyped] = useState("");
  const { data: chosen } = useQuery(organizationQuery(value));
  const asked = typed === chosen?.name ? "" : typed.trim();
  const [search] = useDebouncedValue(asked, 200);
  const { data: found = [], isFetching } = useInfiniteQuery(
    readPages("GET /operator/organizations", {}, { search }),
  );
  const options = chosen === undefined ? found : [chosen, ...found.filter(({ id }) => id !== chosen.id)];
  return (
    <Select
      label={label}
      placeholder={placeholder}
      searchable
      {...chipOf(value !== "")}
      clearable={placeholder !== undefined}
      clearButtonProps={{ "aria-label": tableTexts.clear }}
      nothingFoundMessage={isFetching || search !== asked ? stateTexts.loading : tableTexts.noMatch}
      data={options.map(({ id, name }) => ({ value: id, label: name }))}
      filter={({ options: all }) => all}
      searchValue={typed}
      onSearchChange={setTyped}
      value={value === "" ? null : value}
      onChange={(next) => onChange(next ?? "")}
    />
  );
}
