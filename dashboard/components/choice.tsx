// A filter that always has a value; the page's own shape parses the one in the address.
import { Select, type SelectProps } from "@mantine/core";
import type { Filter } from "../filters.ts";
import { chipOf, keptWhereWide } from "./filters.tsx";

interface ChoiceProps<Value extends string> extends Pick<SelectProps, "label" | "data"> {
  value: Value;
  of: Filter<Value>;
  set: (chosen: Value) => void;
  /** True if it changes how the page is shown, not what: it is hidden only on phones. */
  kept?: boolean;
}

/** A list is as wide as its text, not as the chip that opens it. */
export const FITTING = { width: "max-content", position: "bottom-start" } as const;

export const Choice = <Value extends string>({ of, set, kept = false, ...shown }: ChoiceProps<Value>) => (
  <Select
    allowDeselect={false}
    onChange={(chosen) => set(of(chosen ?? undefined))}
    comboboxProps={FITTING}
    {...(kept ? keptWhereWide : chipOf)(shown.value !== of(undefined))}
    {...shown}
  />
);
