// What every manual credit transaction needs and shows: a reference that works once, a reason, and the balance before
// and after.
import { Alert, Text, TextInput } from "@mantine/core";
import { operatorCreditsTexts as words } from "./texts.ts";
import { ExactMoney } from "../../../components/figures.tsx";

interface Grounds {
  reference: string;
  reason: string;
}
export const NO_GROUNDS: Grounds = { reference: "", reason: "" };

/** As they are sent; null while one of them is missing. */
export function givenGrounds({ reference, reason }: Grounds): Grounds | null {
  const given = { reference: reference.trim(), reason: reason.trim() };
  return given.reference === "" || given.reason === "" ? null : given;
}

export function GroundsFields({ value, onChange }: { value: Grounds; onChange: (value: Grounds) => void }) {
  return (
    <>
      <TextInput
        label={words.reference}
        data-field="reference"
        description={words.referenceHelp}
        maxLength={200}
        value={value.reference}
        onChange={(event) => onChange({ ...value, reference: event.currentTarget.value })}
      />
      <TextInput
        label={words.reason}
        data-field="reason"
        maxLength={500}
        value={value.reason}
        onChange={(event) => onChange({ ...value, reason: event.currentTarget.value })}
      />
    </>
  );
}

interface OutcomeProps {
  /** False if the reference had been used before. */
  now: boolean;
  says: string;
  of: { before_usd: string; after_usd: string };
}

export const Outcome = ({ now, says, of }: OutcomeProps) => (
  <Alert color={now ? "green" : "yellow"} variant="light" role="status">
    <Text size="sm">
      {says} <ExactMoney usd={of.before_usd} /> → <ExactMoney usd={of.after_usd} />
    </Text>
  </Alert>
);
