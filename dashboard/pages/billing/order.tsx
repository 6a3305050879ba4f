// Buying credits: an order is made here, paid on the payment service's page, and credited only by the service's
// event.
import { Alert, Button, Checkbox, Group, Text } from "@mantine/core";
import { useState } from "react";
import { useChange } from "../../api/change.ts";
import type { Answer } from "../../api/routes.ts";
import { AmountField } from "../../components/amount-field.tsx";
import { FormDialog } from "../../components/dialogs.tsx";
import { isAmount, trimAmount } from "../../format/amount.ts";
import { formatMoney } from "../../format/money.ts";
import { billingTexts as words } from "./texts.ts";

type Billing = Answer<"GET /orgs/{org}/billing">;
type Order = Answer<"POST /orgs/{org}/billing/orders">;

interface OrderDialogProps {
  org: string;
  of: Billing;
  onClose: () => void;
}

export function OrderDialog({ org, of, onClose }: OrderDialogProps) {
  const { presets_usd: presets, minimum_usd, maximum_usd } = of;
  const byHand = of.drivers.every((driver) => driver === "manual");
  const [amount, setAmount] = useState(trimAmount(presets[1] ?? presets[0] ?? "25"));
  const [keepCard, setKeepCard] = useState(false);
  const [made, setMade] = useState<Order | null>(null);
  const order = useChange("POST /orgs/{org}/billing/orders", { org }, (answer) => {
    if (answer.pay_url !== null) location.assign(answer.pay_url);
    else setMade(answer);
  });
  return (
    <FormDialog
      title={words.add}
      action={byHand ? words.order : words.pay}
      done={made !== null}
      mutation={order}
      disabled={!isAmount(amount)}
      onClose={onClose}
      onSubmit={() => order.mutate({ amount_usd: amount.trim(), keep_card: keepCard })}
    >
      {made === null ? (
        <>
          <Group gap="xs">
            {presets.map((usd) => (
              <Button key={usd} variant="default" onClick={() => setAmount(trimAmount(usd))}>
                {formatMoney(usd)}
              </Button>
            ))}
          </Group>
          <AmountField
            label={words.amount}
            data-field="amount_usd"
            description={words.bounds(formatMoney(minimum_usd), formatMoney(maximum_usd))}
            value={amount}
            onChange={setAmount}
          />
          {!byHand && (
            <Checkbox
              label={words.keepCard}
              checked={keepCard}
              onChange={(event) => setKeepCard(event.currentTarget.checked)}
            />
          )}
          <Text size="sm" c="dimmed">
            {byHand ? words.creditedByHand : words.creditedWhen}
          </Text>
        </>
      ) : (
        <Alert color="indigo" variant="light">
          {words.ordered(made.id)}
        </Alert>
      )}
    </FormDialog>
  );
}
