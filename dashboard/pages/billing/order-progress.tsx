// The state of an order after the return from the payment page. Returning credits nothing, so the page waits for the
// event.
import { Alert, Text } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { read } from "../../api/read.ts";
import type { Answer } from "../../api/routes.ts";
import { Loaded } from "../../components/states.tsx";
import { formatMoney } from "../../format/money.ts";
import { billingTexts as words } from "./texts.ts";
import { dialogTexts } from "../../components/texts.ts";

type Order = Answer<"POST /orgs/{org}/billing/orders">;

const ASKED_EVERY_MS = 2_000;
const LATE_MS = 60_000;
const COLOURS = { open: "indigo", credited: "green", failed: "red", expired: "yellow" } as const;

interface OrderProgressProps {
  org: string;
  order: string;
  onClose: () => void;
}

export function OrderProgress({ org, order, onClose }: OrderProgressProps) {
  const [since] = useState(() => Date.now());
  const queries = useQueryClient();
  const progress = useQuery({
    ...read("GET /orgs/{org}/billing/orders/{order}", { org, order }),
    // Polls until the payment service has reported.
    refetchInterval: ({ state: { data } }) => (data?.state === "open" ? ASKED_EVERY_MS : false),
  });
  const state = progress.data?.state;
  useEffect(() => {
    // Balance and ledger have changed.
    if (state === "credited") void queries.invalidateQueries({ queryKey: ["orgs", org, "billing"] });
  }, [queries, org, state]);
  return (
    <Loaded query={progress} loading={null}>
      {(of) => (
        <Alert
          color={COLOURS[of.state]}
          variant="light"
          role="status"
          withCloseButton
          closeButtonLabel={dialogTexts.close}
          onClose={onClose}
        >
          <Text size="sm" className="name">
            {sentence(of, progress.dataUpdatedAt - since > LATE_MS)}
          </Text>
        </Alert>
      )}
    </Loaded>
  );
}

function sentence({ id, state, amount_usd, reason }: Order, late: boolean): string {
  const amount = formatMoney(amount_usd);
  switch (state) {
    case "open":
      return late ? words.late(id) : words.waiting(amount);
    case "credited":
      return words.arrived(amount);
    case "failed":
    case "expired":
      return words.notPaid(id, reason);
  }
}
