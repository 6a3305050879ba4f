// Granting credits by hand: a reason, a reference that works once, the balance before and after; a large amount has
// to be confirmed by typing the name.
import { Select, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { looksAlike } from "../../../../src/domain/visible-text.ts";
import { organizationQuery } from "../../../api/organization.ts";
import { useChange } from "../../../api/change.ts";
import type { Answer, Row } from "../../../api/routes.ts";
import { AmountField } from "../../../components/amount-field.tsx";
import { FormDialog } from "../../../components/dialogs.tsx";
import { dialogTexts } from "../../../components/texts.ts";
import { ExactMoney } from "../../../components/figures.tsx";
import { givenGrounds, GroundsFields, Outcome, NO_GROUNDS } from "./grounds.tsx";
import { OrganizationSelect } from "../../../components/organization-select.tsx";
import { isAmount } from "../../../format/amount.ts";
import { addMoney, compareMoney, isZero, subMoney } from "../../../format/money.ts";
import { operatorCreditsTexts as words } from "./texts.ts";

type Granted = Answer<"POST /operator/credits">;
type OrganizationRow = Row<"GET /operator/organizations">;

/** From this amount on the name has to be typed. */
const LARGE_USD = "1000";

export function GrantDialog({ onClose }: { onClose: () => void }) {
  const [id, setId] = useState("");
  const [kind, setKind] = useState<"grant" | "purchase">("grant");
  const [amount, setAmount] = useState("");
  const [grounds, setGrounds] = useState(NO_GROUNDS);
  const [typed, setTyped] = useState("");
  const [granted, setGranted] = useState<Granted | null>(null);
  const grant = useChange("POST /operator/credits", {}, setGranted);
  const { data: org } = useQuery(organizationQuery(id));
  const large = isAmount(amount) && compareMoney(amount.trim(), LARGE_USD) >= 0;
  const named = !large || (org !== undefined && (looksAlike(typed, org.name) || typed.trim() === org.id));
  const given = givenGrounds(grounds);
  const ready = isAmount(amount) && given !== null && named;
  return (
    <FormDialog
      title={words.grant}
      action={words.grant}
      mutation={grant}
      disabled={org === undefined || !ready}
      done={granted !== null}
      onClose={onClose}
      onSubmit={() =>
        org !== undefined &&
        given !== null &&
        grant.mutate({ org: org.id, kind, amount_usd: amount.trim(), ...given })
      }
    >
      {granted === null ? (
        <>
          <OrganizationSelect label={words.org} value={id} onChange={setId} />
          <Select
            label={words.columns.kind}
            data-field="kind"
            allowDeselect={false}
            data={[
              { value: "grant", label: words.grantHelp },
              { value: "purchase", label: words.purchaseHelp },
            ]}
            value={kind}
            onChange={(value) => setKind(value === "purchase" ? "purchase" : "grant")}
          />
          <AmountField label={words.amount} data-field="amount_usd" value={amount} onChange={setAmount} />
          {org !== undefined && <Preview of={org} amount={isAmount(amount) ? amount.trim() : null} />}
          <GroundsFields value={grounds} onChange={setGrounds} />
          {large && org !== undefined && (
            <TextInput
              label={words.largeHelp(org.name)}
              description={dialogTexts.orId(org.id)}
              autoComplete="off"
              value={typed}
              onChange={(event) => setTyped(event.currentTarget.value)}
            />
          )}
        </>
      ) : (
        <Outcome
          now={granted.credited}
          says={granted.credited ? words.credited : words.repeated}
          of={granted}
        />
      )}
    </FormDialog>
  );
}

/** A preview from the current balance; the ledger's answer has the real result. */
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
