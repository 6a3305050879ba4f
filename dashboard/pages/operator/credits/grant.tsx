// Credits by hand: a reason, a reference that works once, the balance before and after; a large amount asks for the name.
import { Alert, Select, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type Granted, useGrant } from "../../../api/office.ts";
import { organizationQuery, type OrganizationRow } from "../../../api/organizations.ts";
import { FormDialog } from "../../../components/dialogs.tsx";
import { ExactMoney } from "../../../components/figures.tsx";
import { OrganizationSelect } from "../../../components/organization-select.tsx";
import { amountProblem, isAmount } from "../../../format/amount.ts";
import { addMoney, compareMoney, isZero, subMoney } from "../../../format/money.ts";
import { texts } from "../../../texts.ts";

const words = texts.operatorCredits;
/** From here on the name has to be typed. */
const LARGE_USD = "1000";

export function GrantDialog({ onClose }: { onClose: () => void }) {
  const [id, setId] = useState("");
  const [kind, setKind] = useState<"grant" | "purchase">("grant");
  const [amount, setAmount] = useState("");
  const [reference, setReference] = useState("");
  const [reason, setReason] = useState("");
  const [typed, setTyped] = useState("");
  const [granted, setGranted] = useState<Granted | null>(null);
  const grant = useGrant(setGranted);
  const { data: org } = useQuery(organizationQuery(id));
  const large = isAmount(amount) && compareMoney(amount.trim(), LARGE_USD) >= 0;
  const named = !large || typed.trim() === org?.name.trim();
  const ready = isAmount(amount) && reference.trim() !== "" && reason.trim() !== "" && named;
  return (
    <FormDialog
      opened
      title={words.grant}
      action={words.grant}
      mutation={grant}
      disabled={org === undefined || !ready}
      done={granted !== null}
      onClose={onClose}
      onSubmit={() =>
        org !== undefined &&
        grant.mutate({
          org: org.id,
          kind,
          amount_usd: amount.trim(),
          reference: reference.trim(),
          reason: reason.trim(),
        })
      }
    >
      {granted === null ? (
        <>
          <OrganizationSelect label={words.org} value={id} onChange={setId} />
          <Select
            label={words.columns.kind}
            allowDeselect={false}
            data={[
              { value: "grant", label: words.grantHelp },
              { value: "purchase", label: words.purchaseHelp },
            ]}
            value={kind}
            onChange={(value) => setKind(value === "purchase" ? "purchase" : "grant")}
          />
          <TextInput
            label={words.amount}
            inputMode="decimal"
            leftSection="$"
            value={amount}
            error={amountProblem(amount)}
            onChange={(event) => setAmount(event.currentTarget.value)}
          />
          {org !== undefined && <Preview of={org} amount={isAmount(amount) ? amount.trim() : null} />}
          <TextInput
            label={words.reference}
            description={words.referenceHelp}
            maxLength={200}
            value={reference}
            onChange={(event) => setReference(event.currentTarget.value)}
          />
          <TextInput
            label={words.reason}
            maxLength={500}
            value={reason}
            onChange={(event) => setReason(event.currentTarget.value)}
          />
          {large && org !== undefined && (
            <TextInput
              label={words.largeHelp(org.name)}
              autoComplete="off"
              value={typed}
              onChange={(event) => setTyped(event.currentTarget.value)}
            />
          )}
        </>
      ) : (
        <Alert color={granted.credited ? "green" : "yellow"} variant="light" role="status">
          <Text size="sm">
            {granted.credited ? words.credited : words.repeated} <ExactMoney usd={granted.before_usd} /> →{" "}
            <ExactMoney usd={granted.after_usd} />
          </Text>
        </Alert>
      )}
    </FormDialog>
  );
}

/** As things stand now; the answer of the ledger says how it came out. */
const Preview = ({ of, amount }: { of: OrganizationRow; amount: string | null }) => (
  <Text size="sm" c="dimmed" role="status">
    {words.available} <ExactMoney usd={of.available_usd} />
    {amount !== null && (
      <>
        , {words.after} <ExactMoney usd={afterIt(of, amount)} />
      </>
    )}
    {!isZero(of.debt_usd) && (
      <>
        ; {words.debtFirst} <ExactMoney usd={of.debt_usd} />
      </>
    )}
  </Text>
);

const afterIt = ({ available_usd, debt_usd }: OrganizationRow, amount: string): string =>
  compareMoney(amount, debt_usd) <= 0 ? available_usd : addMoney(available_usd, subMoney(amount, debt_usd));
