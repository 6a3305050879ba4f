// Filters of spend by key name and by model: choices instead of typed ids.
import { Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { read } from "../api/read.ts";
import { FITTING } from "./choice.tsx";
import { chipOf } from "./filters.tsx";
import { KeySelect } from "./key-select.tsx";
import { spendFilterTexts as words } from "./texts.ts";

interface ChoiceProps {
  label: string;
  value: string;
  set: (value: string) => void;
  choices: readonly { value: string; label: string }[];
}

/**
 * Includes the value of the address even if it is unknown: a model that was removed, a key that this person may not
 * see.
 */
export const KnownChoice = ({ label, value, set, choices }: ChoiceProps) => (
  <Select
    label={label}
    searchable
    clearable
    comboboxProps={FITTING}
    {...chipOf(value !== "")}
    clearButtonProps={{ "aria-label": words.clear(label) }}
    placeholder={words.all}
    value={value === "" ? null : value}
    onChange={(chosen) => set(chosen ?? "")}
    data={
      value === "" || choices.some((choice) => choice.value === value)
        ? choices
        : [...choices, { value, label: value }]
    }
  />
);

interface FilterProps {
  org: string;
  value: string;
  set: (value: string) => void;
}

export const KeyFilter = ({ org, value, set }: FilterProps) => (
  <KeySelect org={org} label={words.key} placeholder={words.all} value={value} onChange={set} />
);

export function ModelFilter({ org, value, set }: FilterProps) {
  const { data } = useQuery(read("GET /orgs/{org}/models", { org }));
  return <ModelChoice ids={(data?.data ?? []).map(({ id }) => id)} value={value} set={set} />;
}

interface ModelChoiceProps extends Omit<FilterProps, "org"> {
  /** In any order, with duplicates. */
  ids: readonly string[];
}

export const ModelChoice = ({ ids, value, set }: ModelChoiceProps) => (
  <KnownChoice
    label={words.model}
    value={value}
    set={set}
    choices={[...new Set(ids)].sort().map((id) => ({ value: id, label: id }))}
  />
);
