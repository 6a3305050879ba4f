// Back from the payment service: what became of the order in the address. Credits appear by the service's event, never by
// this page; it only waits for them, and says so when that takes longer.
import { Alert, Button, Group, Loader, Text } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { billingOf, type Order, orderQuery } from "../../api/billing.ts";
import { Failure } from "../../components/states.tsx";
import { formatMoney } from "../../format/money.ts";
import { texts } from "../../texts.ts";

const words = texts.billing.payment;
/** After this nobody should think that the page will change by waiting. */
const LONG_MS = 60_000;

export function PaymentNotice({
  org,
  order: id,
  dismiss,
}: {
  org: string;
  order: string;
  dismiss: () => void;
}) {
  const order = useQuery(orderQuery(org, id));
  const queries = useQueryClient();
  const state = order.data?.state;
  useEffect(() => {
    if (state === "credited") void queries.invalidateQueries({ queryKey: billingOf(org) });
  }, [state, org, queries]);
  if (order.error !== null) return <Failure error={order.error} retry={() => void order.refetch()} />;
  if (order.data === undefined) return null;
  return (
    <Alert
      variant="light"
      color={COLOURS[order.data.state]}
      role="status"
      title={words.titles[order.data.state]}
      styles={{ title: { color: "var(--mantine-color-text)" } }}
    >
      <Group justify="space-between" gap="sm">
        <Said of={order.data} />
        {order.data.state !== "open" && (
          <Button size="compact-sm" variant="default" onClick={dismiss}>
            {texts.dialog.close}
          </Button>
        )}
      </Group>
    </Alert>
  );
}

const COLOURS: Record<Order["state"], string> = {
  open: "indigo",
  credited: "green",
  failed: "red",
  expired: "yellow",
};

function Said({ of }: { of: Order }) {
  const amount = formatMoney(of.amount_usd);
  const long = useLong();
  switch (of.state) {
    case "credited":
      return <Text size="sm">{words.credited(amount, of.id)}</Text>;
    case "failed":
    case "expired":
      return (
        <Text size="sm" className="name">
          {words.ended(of.reason, of.id)}
        </Text>
      );
    case "open":
      return (
        <Group gap="xs" wrap="nowrap">
          <Loader size="xs" aria-hidden />
          <Text size="sm">{long ? words.late(amount, of.id) : words.waiting(amount)}</Text>
        </Group>
      );
  }
}

/** Whether this page has waited for long. */
function useLong(): boolean {
  const [long, setLong] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLong(true), LONG_MS);
    return () => clearTimeout(timer);
  }, []);
  return long;
}
