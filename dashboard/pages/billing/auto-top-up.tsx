// Automatic top-up: below a threshold the kept card is charged, within a monthly cap; the last failure with its reason.
import { Alert, Button, Group, Paper, SimpleGrid, Stack, Switch, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { type AutoTopUp, useAutoTopUp, useRemoveCard, useRetryAutoTopUp } from "../../api/billing.ts";
import { ConfirmDialog } from "../../components/dialogs.tsx";
import { ExactMoney, Time } from "../../components/figures.tsx";
import { Failure } from "../../components/states.tsx";
import { amountProblem, isAmount, trimAmount } from "../../format/amount.ts";
import { texts } from "../../texts.ts";

const words = texts.billing;

interface AutoTopUpProps {
  org: string;
  of: AutoTopUp;
  mayChange: boolean;
}

export function AutoTopUpCard({ org, of, mayChange }: AutoTopUpProps) {
  const [on, setOn] = useState(of.on);
  const [threshold, setThreshold] = useState(trimAmount(of.threshold_usd ?? "5"));
  const [amount, setAmount] = useState(trimAmount(of.amount_usd ?? "25"));
  const [cap, setCap] = useState(trimAmount(of.monthly_cap_usd ?? ""));
  const [removing, setRemoving] = useState(false);
  const save = useAutoTopUp(org);
  const retry = useRetryAutoTopUp(org);
  const field = (label: string, value: string, set: (text: string) => void, placeholder = "") => (
    <TextInput
      label={label}
      placeholder={placeholder}
      inputMode="decimal"
      leftSection="$"
      value={value}
      disabled={!mayChange}
      error={amountProblem(value)}
      onChange={(event) => set(event.currentTarget.value)}
    />
  );
  const ready = isAmount(threshold) && isAmount(amount) && (cap.trim() === "" || isAmount(cap));
  return (
    <Paper withBorder p="md">
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
                  onClick={() => retry.mutate(null)}
                >
                  {texts.states.retry}
                </Button>
              )}
            </Group>
          </Alert>
        )}
        {save.error !== null && <Failure error={save.error} />}
        {retry.error !== null && <Failure error={retry.error} />}
        <Switch
          label={words.autoOn}
          disabled={!mayChange}
          checked={on}
          onChange={(event) => setOn(event.currentTarget.checked)}
        />
        <SimpleGrid cols={{ base: 1, xs: 3 }} spacing="sm" verticalSpacing="sm" maw={640}>
          {field(words.threshold, threshold, setThreshold)}
          {field(words.topUpBy, amount, setAmount)}
          {field(words.cap, cap, setCap, words.noCap)}
        </SimpleGrid>
        <div>
          <Button
            loading={save.isPending}
            disabled={!ready || !mayChange}
            onClick={() =>
              save.mutate({
                on,
                threshold_usd: threshold.trim(),
                amount_usd: amount.trim(),
                monthly_cap_usd: cap.trim() === "" ? null : cap.trim(),
              })
            }
          >
            {texts.dialog.save}
          </Button>
        </div>
      </Stack>
      {removing && of.card !== null && (
        <RemoveCard org={org} card={of.card} onClose={() => setRemoving(false)} />
      )}
    </Paper>
  );
}

function RemoveCard({ org, card, onClose }: { org: string; card: string; onClose: () => void }) {
  const remove = useRemoveCard(org, onClose);
  return (
    <ConfirmDialog
      opened
      title={words.removeCard}
      name={card}
      action={words.removeCardAction(card)}
      mutation={remove}
      onClose={onClose}
      onSubmit={() => remove.mutate(null)}
    >
      <Text size="sm">{words.removeCardHelp}</Text>
    </ConfirmDialog>
  );
}
