// A field for an amount of credits, with its error below it.
import { TextInput, type TextInputProps } from "@mantine/core";
import { amountProblem } from "../format/amount.ts";

interface AmountFieldProps extends Omit<TextInputProps, "value" | "onChange"> {
  /** In US dollars, as typed. */
  value: string;
  onChange: (usd: string) => void;
}

/** `error` is shown in preference to the amount's own error. */
export const AmountField = ({ value, onChange, error, ...rest }: AmountFieldProps) => (
  <TextInput
    inputMode="decimal"
    leftSection="$"
    {...rest}
    value={value}
    error={error ?? amountProblem(value)}
    onChange={(event) => onChange(event.currentTarget.value)}
  />
);
