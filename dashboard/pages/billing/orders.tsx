// The organization's orders: paid, unpaid, or failed with the reason.
import { Button, Stack, Text } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { moreOf, readPages } from "../../api/read.ts";
import type { Answer } from "../../api/routes.ts";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { ExactMoney, Time } from "../../components/figures.tsx";
import { Section } from "../../components/page.tsx";
import { Parts } from "../../components/parts.tsx";
import { StateAndReason } from "../../components/state-badge.tsx";
import { Loaded } from "../../components/states.tsx";
import { billingTexts as words } from "./texts.ts";

type Order = Answer<"POST /orgs/{org}/billing/orders">;

export function Orders({ org, mayPay }: { org: string; mayPay: boolean }) {
  const orders = useInfiniteQuery(readPages("GET /orgs/{org}/billing/orders", { org }));
  if (orders.data?.length === 0) return null;
  return (
    <Section title={words.orders}>
      <Loaded query={orders}>
        {(rows) => (
          <DataTable
            label={words.orders}
            rows={rows}
            rowKey={({ id }) => id}
            columns={mayPay ? [...COLUMNS, PAY] : COLUMNS}
            more={moreOf(orders)}
          />
        )}
      </Loaded>
    </Section>
  );
}

const COLUMNS: Column<Order>[] = [
  { title: words.columns.at, cell: ({ created_at }) => <Time at={created_at} /> },
  {
    title: words.columns.order,
    always: true,
    cell: ({ id, purpose }) => (
      <Stack gap={0} align="flex-start">
        <Text size="sm">{words.purposes[purpose]}</Text>
        <Text size="xs" c="dimmed" className="name">
          <Parts of={id} />
        </Text>
      </Stack>
    ),
  },
  {
    title: words.columns.state,
    cell: ({ state, reason }) => <StateAndReason state={state} reason={reason} />,
  },
  {
    title: words.columns.amount,
    always: true,
    figures: true,
    cell: ({ amount_usd }) => <ExactMoney usd={amount_usd} />,
  },
];

const PAY: Column<Order> = {
  title: words.columns.actions,
  always: true,
  acts: true,
  cell: ({ state, pay_url }) =>
    state === "open" &&
    pay_url !== null && (
      <Button component="a" href={pay_url} variant="default" size="compact-sm">
        {words.payNow}
      </Button>
    ),
};
