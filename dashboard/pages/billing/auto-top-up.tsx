// Automatic top-up: below a threshold the stored card is charged, within a monthly cap; shows the reason of the last
// failure.
import { Alert, Button, Group, Paper, SimpleGrid, Stack, Switch, Text } from "@mantine/core";
import { useState } from "react";
import { useChange } from "../../api/change.ts";
import type { Answer } from "../../api/routes.ts";
import { AmountField } from "../../components/amount-field.tsx";
import { ConfirmDialog } from "../../components/dialogs.tsx";
import { ExactMoney, Money, Time } from "../../components/figures.tsx";
import { type Fact, Meanwhile, sinceOpened } from "../../components/meanwhile.tsx";
import { FormFailure } from "../../components/form.tsx";
import { Failure } from "../../components/states.tsx";
import { isAmount, trimAmount } from "../../format/amount.ts";
import { billingTexts as words } from "./texts.ts";
import { dialogTexts, meanwhileTexts, stateTexts } from "../../components/texts.ts";

type AutoTopUp = Answer<"GET /orgs/{org}/billing/auto-top-up">;

interface AutoTopUpProps {
  org: string;
  of: AutoTopUp;
  mayChange: boolean;
}

interface Terms {
  on: boolean;
  threshold: string;
  amount: string;
  cap: string;
}

/** The amounts of its terms, by their names in the API. */
const AMOUNTS = [
  { term: "threshold", field: "threshold_usd", label: words.threshold, placeholder: "" },
  { term: "amount", field: "amount_usd", label: words.topUpBy, placeholder: "" },
  { term: "cap", field: "monthly_cap_usd", label: words.cap, placeholder: words.noCap },
] as const;

export function AutoTopUpCard({ org, of, mayChange }: AutoTopUpProps) {
  const { terms, type, save, tried, changed, ready, discard, send } = useTermsForm(org, of);
  const retry = useChange("POST /orgs/{org}/billing/auto-top-up/retry", { org });
  return (
    <Paper withBorder p="md" data-fields>
      <Stack gap="sm">
        <Card org={org} of={of} mayChange={mayChange} />
        {of.last_failure !== null && <LastFailure of={of.last_failure} retry={mayChange ? retry : null} />}
        {of.on && of.acts_below_usd !== of.threshold_usd && of.acts_below_usd !== null && (
          <Alert color="yellow" variant="light">
            {words.actsBelow} <Money usd={of.acts_below_usd} />. {words.actsBelowHelp}
          </Alert>
        )}
        {tried.late && (
          <Meanwhile facts={factsOf(of)}>
            <Button size="compact-sm" variant="default" onClick={discard}>
              {meanwhileTexts.discard}
            </Button>
          </Meanwhile>
        )}
        {!tried.late && save.error !== null && <FormFailure error={save.error} />}
        {retry.error !== null && <Failure error={retry.error} />}
        <Switch
          label={words.autoOn}
          disabled={!mayChange}
          checked={terms.on}
          onChange={(event) => type({ on: event.currentTarget.checked })}
        />
        <SimpleGrid cols={{ base: 1, xs: 3 }} spacing="sm" verticalSpacing="sm" maw={640}>
          {AMOUNTS.map(({ term, field, ...shown }) => (
            <AmountField
              key={term}
              {...shown}
              data-field={field}
              value={terms[term]}
              disabled={!mayChange}
              onChange={(usd) => type({ [term]: usd })}
            />
          ))}
        </SimpleGrid>
        <div>
          <Button loading={save.isPending} disabled={!ready || !changed || !mayChange} onClick={send}>
            {tried.late ? meanwhileTexts.saveAnyway : dialogTexts.save}
          </Button>
        </div>
      </Stack>
    </Paper>
  );
}

/** The typed terms, the terms they started from, and whether they may be saved. */
function useTermsForm(org: string, of: AutoTopUp) {
  const [typed, setTyped] = useState<{ terms: Terms; from: AutoTopUp } | null>(null);
  const save = useChange("PUT /orgs/{org}/billing/auto-top-up", { org }, (saved) =>
    setTyped({ terms: termsOf(saved), from: saved }),
  );
  const { terms, from } = typed ?? { terms: termsOf(of), from: of };
  const { on, threshold, amount, cap } = terms;
  const kept = termsOf(from);
  const tried = sinceOpened(save, from, of);
  return {
    terms,
    type: (change: Partial<Terms>): void => setTyped({ terms: { ...terms, ...change }, from }),
    save,
    tried,
    changed: on !== kept.on || amountsOf(terms).some((usd, at) => usd !== amountsOf(kept)[at]),
    ready: isAmount(threshold) && isAmount(amount) && (cap.trim() === "" || isAmount(cap)),
    discard: (): void => {
      setTyped(null);
      save.reset();
    },
    send: (): void =>
      save.mutate({
        on,
        threshold_usd: threshold.trim(),
        amount_usd: amount.trim(),
        monthly_cap_usd: cap.trim() === "" ? null : cap.trim(),
        version: tried.on.version,
      }),
  };
}

/** The stored card, what was charged to it this month, and its state. */
function Card({ org, of, mayChange }: AutoTopUpProps) {
  const [removing, setRemoving] = useState(false);
  return (
    <Group justify="space-between" gap="sm">
      <Text size="sm">
        {of.card === null ? words.noCard : words.card(of.card)} {words.spent}{" "}
        <ExactMoney usd={of.spent_this_month_usd} />.
      </Text>
      {of.card !== null && mayChange && (
        <Button size="compact-sm" variant="default" onClick={() => setRemoving(true)}>
          {words.removeCard}
        </Button>
      )}
      {removing && of.card !== null && (
        <RemoveCard org={org} card={of.card} onClose={() => setRemoving(false)} />
      )}
    </Group>
  );
}

interface LastFailureProps {
  of: NonNullable<AutoTopUp["last_failure"]>;
  /** Null for a person who may not retry. */
  retry: { isPending: boolean; mutate: (input: object) => void } | null;
}

const LastFailure = ({ of: { at, reason }, retry }: LastFailureProps) => (
  <Alert color="yellow" variant="light">
    <Group justify="space-between" gap="xs">
      <Text size="sm" className="name">
        <Time at={at} />: {reason}
      </Text>
      {retry !== null && (
        <Button
          size="compact-sm"
          variant="default"
          loading={retry.isPending}
          onClick={() => retry.mutate({})}
        >
          {stateTexts.retry}
        </Button>
      )}
    </Group>
  </Alert>
);

const termsOf = ({ on, threshold_usd, amount_usd, monthly_cap_usd }: AutoTopUp): Terms => ({
  on,
  threshold: trimAmount(threshold_usd ?? "5"),
  amount: trimAmount(amount_usd ?? "25"),
  cap: trimAmount(monthly_cap_usd ?? ""),
});

/** As they would be sent. */
const amountsOf = ({ threshold, amount, cap }: Terms): string[] =>
  [threshold, amount, cap].map((usd) => usd.trim());

const amountFact = (label: string, usd: string | null): Fact => [
  label,
  usd === null ? meanwhileTexts.none : <Money usd={usd} />,
];

const factsOf = ({ on, threshold_usd, amount_usd, monthly_cap_usd }: AutoTopUp): Fact[] => [
  [words.autoOn, on ? meanwhileTexts.yes : meanwhileTexts.no],
  amountFact(words.threshold, threshold_usd),
  amountFact(words.topUpBy, amount_usd),
  amountFact(words.cap, monthly_cap_usd),
];

function RemoveCard({ org, card, onClose }: { org: string; card: string; onClose: () => void }) {
  const remove = useChange("DELETE /orgs/{org}/billing/card", { org }, onClose);
  return (
    <ConfirmDialog
      title={words.removeCard}
      name={card}
      action={words.removeCardAction(card)}
      mutation={remove}
      onClose={onClose}
      onConfirm={() => remove.mutate({})}
    >
      {words.removeCardHelp}
    </ConfirmDialog>
  );
}
