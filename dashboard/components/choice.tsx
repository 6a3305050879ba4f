// A filter of which one value is always chosen; what stands in the address is read by the page's own shape.
import { Select, type SelectProps } from "@mantine/core";
import type { Filter } from "../filters.ts";
import { chipOf, keptWhereWide } from "./filters.tsx";

interface ChoiceProps<Value extends string> extends Pick<SelectProps, "label" | "data"> {
  value: Value;
  of: Filter<Value>;
  set: (chosen: Value) => void;
  /** Not what narrows the page, but how it is shown: folded away on phones alone. */
  kept?: boolean;
}

/** A list is as wide as its words, not as the chip that opens it. */
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
