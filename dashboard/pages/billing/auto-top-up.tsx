// Automatic top-up: below a threshold the kept card is charged, within a monthly cap; the last failure with its reason.
import { Alert, Button, Group, Paper, SimpleGrid, Stack, Switch, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { useChange } from "../../api/change.ts";
import type { Answer } from "../../api/routes.ts";
import { ConfirmDialog } from "../../components/dialogs.tsx";
import { ExactMoney, Money, Time } from "../../components/figures.tsx";
import { type Fact, Meanwhile, sinceOpened } from "../../components/meanwhile.tsx";
import { FormFailure } from "../../components/form.tsx";
import { Failure } from "../../components/states.tsx";
import { amountProblem, isAmount, trimAmount } from "../../format/amount.ts";
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

const LABELS = {
  threshold_usd: words.threshold,
  amount_usd: words.topUpBy,
  monthly_cap_usd: words.cap,
} as const;

export function AutoTopUpCard({ org, of, mayChange }: AutoTopUpProps) {
  const [typed, setTyped] = useState<{ terms: Terms; from: AutoTopUp } | null>(null);
  const [removing, setRemoving] = useState(false);
  const save = useChange("PUT /orgs/{org}/billing/auto-top-up", { org }, (saved) =>
    setTyped({ terms: termsOf(saved), from: saved }),
  );
  const { terms, from } = typed ?? { terms: termsOf(of), from: of };
  const { on, threshold, amount, cap } = terms;
  const type = (change: Partial<Terms>): void => setTyped({ terms: { ...terms, ...change }, from });
  const tried = sinceOpened(save, from, of);
  const discard = (): void => {
    setTyped(null);
    save.reset();
  };
  const retry = useChange("POST /orgs/{org}/billing/auto-top-up/retry", { org });
  const field = (
    name: keyof typeof LABELS,
    { value, set, placeholder = "" }: { value: string; set: (text: string) => void; placeholder?: string },
  ) => (
    <TextInput
      label={LABELS[name]}
      data-field={name}
      placeholder={placeholder}
      inputMode="decimal"
      leftSection="$"
      value={value}
      disabled={!mayChange}
      error={amountProblem(value)}
      onChange={(event) => set(event.currentTarget.value)}
    />
  );
  const kept = termsOf(from);
  const changed = on !== kept.on || amountsOf(terms).some((usd, at) => usd !== amountsOf(kept)[at]);
  const ready = isAmount(threshold) && isAmount(amount) && (cap.trim() === "" || isAmount(cap));
  return (
    <Paper withBorder p="md" data-fields>
      <Stack gap="sm">
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
        </Group>
        {of.last_failure !== null && (
          <Alert color="yellow" variant="light">
            <Group justify="space-between" gap="xs">
              <Text size="sm" className="name">
                <Time at={of.last_failure.at} />: {of.last_failure.reason}
              </Text>
              {mayChange && (
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
        )}
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
          checked={on}
          onChange={(event) => type({ on: event.currentTarget.checked })}
        />
        <SimpleGrid cols={{ base: 1, xs: 3 }} spacing="sm" verticalSpacing="sm" maw={640}>
          {field("threshold_usd", { value: threshold, set: (text) => type({ threshold: text }) })}
          {field("amount_usd", { value: amount, set: (text) => type({ amount: text }) })}
          {field("monthly_cap_usd", {
            value: cap,
            set: (text) => type({ cap: text }),
            placeholder: words.noCap,
          })}
        </SimpleGrid>
        <div>
          <Button
            loading={save.isPending}
            disabled={!ready || !changed || !mayChange}
            onClick={() =>
              save.mutate({
                on,
                threshold_usd: threshold.trim(),
                amount_usd: amount.trim(),
                monthly_cap_usd: cap.trim() === "" ? null : cap.trim(),
                version: tried.on.version,
              })
            }
          >
            {tried.late ? meanwhileTexts.saveAnyway : dialogTexts.save}
          </Button>
        </div>
      </Stack>
      {removing && of.card !== null && (
        <RemoveCard org={org} card={of.card} onClose={() => setRemoving(false)} />
      )}
    </Paper>
  );
}

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
