// A select with server-side search: it searches while the person types, and requests nothing before it is opened.
import { type ComboboxData, Select } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useState } from "react";
import { FITTING } from "./choice.tsx";
import { chipOf } from "./filters.tsx";
import { stateTexts, tableTexts } from "./texts.ts";

const PAUSE_MS = 200;

export interface Option {
  value: string;
  label: string;
}

export interface ChooserProps {
  label: string;
  /** Shown if nothing is chosen; then the choice can be cleared. Without it, a blank value is a choice of its own. */
  placeholder?: string;
  /** Empty: none. */
  value: string;
  onChange: (value: string) => void;
}

/** The typed text, as far as it is a search. */
export function useTyped(chosen: Option | undefined) {
  const [typed, setTyped] = useState("");
  const [opened, setOpened] = useState(false);
  const wanted = typed === chosen?.label ? "" : typed.trim();
  const [search] = useDebouncedValue(wanted, PAUSE_MS);
  return { typed, setTyped, opened, open: () => setOpened(true), search, pausing: search !== wanted };
}

interface SearchSelectProps extends ChooserProps {
  clearLabel?: string;
  typed: ReturnType<typeof useTyped>;
  /** The options that match what is typed. */
  found: ComboboxData;
  isFetching: boolean;
  /** A form field, not styled as a filter. */
  inForm?: boolean;
}

export const SearchSelect = ({
  label,
  placeholder,
  value,
  onChange,
  clearLabel = tableTexts.clear,
  typed,
  found,
  isFetching,
  inForm = false,
}: SearchSelectProps) => (
  <Select
    label={label}
    {...(placeholder !== undefined && { placeholder })}
    searchable
    {...(inForm ? {} : { comboboxProps: FITTING, ...chipOf(value !== "") })}
    clearable={placeholder !== undefined}
    allowDeselect={placeholder !== undefined}
    clearButtonProps={{ "aria-label": clearLabel }}
    nothingFoundMessage={
      typed.opened && (isFetching || typed.pausing ? stateTexts.loading : tableTexts.noMatch)
    }
    data={found}
    filter={({ options: all }) => all}
    searchValue={typed.typed}
    onSearchChange={typed.setTyped}
    onFocus={typed.open}
    onDropdownOpen={typed.open}
    value={value === "" && placeholder !== undefined ? null : value}
    onChange={(next) => onChange(next ?? "")}
  />
);

/** Puts the chosen option first, whatever was found. */
export const withChosen = (chosen: Option | undefined, found: readonly Option[]): Option[] =>
  chosen === undefined ? [...found] : [chosen, ...found.filter(({ value }) => value !== chosen.value)];
