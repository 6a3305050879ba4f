// An amount of credits as people type it; what is wrong with it is said below.
import { TextInput, type TextInputProps } from "@mantine/core";
import { amountProblem } from "../format/amount.ts";

interface AmountFieldProps extends Omit<TextInputProps, "value" | "onChange"> {
  /** In US dollars, as typed. */
  value: string;
  onChange: (usd: string) => void;
}

/** `error` is said before what is wrong with the amount itself. */
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
