// A filter of which one value is always chosen; what stands in the address is read by the page's own shape.
import { Select, type SelectProps } from "@mantine/core";
import type { Filter } from "../filters.ts";

interface ChoiceProps<Value extends string> extends Pick<SelectProps, "label" | "w" | "data"> {
  value: Value;
  of: Filter<Value>;
  set: (chosen: Value) => void;
}

export const Choice = <Value extends string>({ of, set, ...shown }: ChoiceProps<Value>) => (
  <Select allowDeselect={false} onChange={(chosen) => set(of(chosen ?? undefined))} {...shown} />
);
