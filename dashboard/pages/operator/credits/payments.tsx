// Every event of a payment service with its outcome: the place to look if money arrived but was not credited.
import { Code, Stack, Text } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { moreOf, readPages } from "../../../api/read.ts";
import type { Row } from "../../../api/routes.ts";
import { type Column, DataTable } from "../../../components/data-table.tsx";
import { Time } from "../../../components/figures.tsx";
import { Parts } from "../../../components/parts.tsx";
import { StateBadge } from "../../../components/state-badge.tsx";
import { Empty, Loaded } from "../../../components/states.tsx";
import { operatorCreditsTexts as words } from "./texts.ts";
import type { ListProps } from "./transactions.tsx";
import { OrganizationName } from "../../../components/organization-name.tsx";

type PaymentEvent = Row<"GET /operator/payments">;

export function Payments({ org }: ListProps) {
  const payments = useInfiniteQuery(readPages("GET /operator/payments", {}, { org }));
  return (
    <Loaded query={payments}>
      {(rows) =>
        rows.length === 0 ? (
          <Empty icon="billing">{words.paymentsEmpty}</Empty>
        ) : (
          <DataTable
            label={words.shown.payments}
            rows={rows}
            rowKey={({ driver, id }) => `${driver} ${id}`}
            columns={COLUMNS}
            more={moreOf(payments)}
          />
        )
      }
    </Loaded>
  );
}

const COLUMNS: Column<PaymentEvent>[] = [
  { title: words.columns.at, cell: ({ received_at }) => <Time at={received_at} /> },
  {
    title: words.columns.event,
    always: true,
    cell: ({ type, id, driver }) => (
      <Stack gap={0}>
        <span className="name">{type}</span>
        <Text size="xs" c="dimmed" className="name">
          {driver} · {id}
        </Text>
      </Stack>
    ),
  },
  {
    title: words.columns.org,
    cell: ({ org, org_name }) =>
      org === null ? (
        "–"
      ) : (
        <span className="name clamped">
          <OrganizationName id={org} name={org_name} />
        </span>
      ),
  },
  {
    title: words.columns.order,
    cell: ({ order }) =>
      order === null ? (
        "–"
      ) : (
        <Code className="name">
          <Parts of={order} />
        </Code>
      ),
  },
  {
    title: words.columns.outcome,
    always: true,
    cell: ({ outcome, detail, deliveries }) => (
      <Stack gap={2} align="flex-start">
        <StateBadge state={outcome} />
        <Text size="xs" c="dimmed" className="name">
          {detail ?? words.deliveries(deliveries)}
        </Text>
      </Stack>
    ),
  },
];
