// The orders of organizations. An order paid by hand waits for an operator to confirm that the money arrived.
import { Code, Stack, Text } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useChange } from "../../../api/change.ts";
import { moreOf, readPages } from "../../../api/read.ts";
import type { Row } from "../../../api/routes.ts";
import { type Column, DataTable } from "../../../components/data-table.tsx";
import { ConfirmDialog } from "../../../components/dialogs.tsx";
import { ExactMoney, Time } from "../../../components/figures.tsx";
import { Parts } from "../../../components/parts.tsx";
import { RowActs } from "../../../components/row-acts.tsx";
import { StateAndReason } from "../../../components/state-badge.tsx";
import { Empty, Loaded } from "../../../components/states.tsx";
import { operatorCreditsTexts as words } from "./texts.ts";
import type { ListProps } from "./transactions.tsx";
import { OrganizationName } from "../../../components/organization-name.tsx";

type OrderRow = Row<"GET /operator/orders">;

export function Orders({ org }: ListProps) {
  const orders = useInfiniteQuery(readPages("GET /operator/orders", {}, { org }));
  const [confirming, setConfirming] = useState<OrderRow | null>(null);
  return (
    <>
      <Loaded query={orders}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty icon="billing">{words.ordersEmpty}</Empty>
          ) : (
            <DataTable
              label={words.shown.orders}
              rows={rows}
              rowKey={({ id }) => id}
              columns={columns(setConfirming)}
              more={moreOf(orders)}
            />
          )
        }
      </Loaded>
      {confirming !== null && <Confirm of={confirming} onClose={() => setConfirming(null)} />}
    </>
  );
}

const columns = (confirm: (of: OrderRow) => void): Column<OrderRow>[] => [
  { title: words.columns.at, cell: ({ created_at }) => <Time at={created_at} /> },
  {
    title: words.columns.org,
    always: true,
    cell: ({ org, org_name, purpose }) => (
      <Stack gap={0}>
        <span className="name clamped">
          <OrganizationName id={org} name={org_name} />
        </span>
        <Text size="xs" c="dimmed">
          {purpose === "checkout" ? words.checkout : words.automatic}
        </Text>
      </Stack>
    ),
  },
  {
    title: words.columns.order,
    cell: ({ id, driver }) => (
      <Stack gap={0} align="flex-start">
        <Code className="name">
          <Parts of={id} />
        </Code>
        <Text size="xs" c="dimmed">
          {driver}
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
  {
    title: words.columns.actions,
    always: true,
    acts: true,
    cell: (of) =>
      of.state === "open" &&
      of.driver === "manual" && (
        <RowActs label={words.menu(of.id)} acts={[{ label: words.confirm, act: () => confirm(of) }]} />
      ),
  },
];

function Confirm({ of, onClose }: { of: OrderRow; onClose: () => void }) {
  const confirm = useChange("POST /operator/orders/{order}/confirm", { order: of.id }, onClose);
  return (
    <ConfirmDialog
      title={words.confirmTitle(of.org_name)}
      name={of.org_name}
      id={of.org}
      action={words.confirm}
      mutation={confirm}
      onClose={onClose}
      onConfirm={() => confirm.mutate({})}
    >
      <Text size="sm">
        <ExactMoney usd={of.amount_usd} /> · {of.id}
      </Text>
      <Text size="sm">{words.confirmHelp}</Text>
    </ConfirmDialog>
  );
}
