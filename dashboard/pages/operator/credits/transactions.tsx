// Purchases, grants, refunds and chargebacks of the ledger, with the balance after each.
import { Stack, Text } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { moreOf, readPages } from "../../../api/read.ts";
import type { Row } from "../../../api/routes.ts";
import { type Column, DataTable } from "../../../components/data-table.tsx";
import { ExactMoney, Time } from "../../../components/figures.tsx";
import { Empty, Loaded } from "../../../components/states.tsx";
import { actorNames } from "../../../components/texts.ts";
import { operatorCreditsTexts as words } from "./texts.ts";
import { OrganizationName } from "../../../components/organization-name.tsx";

type Credit = Row<"GET /operator/credits">;

export interface ListProps {
  /** Empty: all. */
  org: string;
  /** The button that grants credits, for an empty list. */
  grant: ReactNode;
}

export function Transactions({ org, grant }: ListProps) {
  const credits = useInfiniteQuery(readPages("GET /operator/credits", {}, { org }));
  return (
    <Loaded query={credits}>
      {(rows) =>
        rows.length === 0 ? (
          <Empty icon="credits" action={grant}>
            {words.empty}
          </Empty>
        ) : (
          <DataTable
            label={words.shown.transactions}
            rows={rows}
            rowKey={({ org: id, source, reference, kind }) => `${id} ${source} ${reference} ${kind}`}
            columns={COLUMNS}
            more={moreOf(credits)}
          />
        )
      }
    </Loaded>
  );
}

/** A person, or a payment service with the order that was paid through it. */
function By({ of }: { of: Credit["by"] }) {
  if (of === null) return "–";
  const [service = "", order] = of.id.split(" ");
  if (of.name !== null || order === undefined) return <span className="name">{of.name ?? of.id}</span>;
  return (
    <Stack gap={0}>
      <span>{actorNames[service] ?? service}</span>
      <Text size="xs" c="dimmed" className="name">
        {order}
      </Text>
    </Stack>
  );
}

const COLUMNS: Column<Credit>[] = [
  { title: words.columns.at, cell: ({ at }) => <Time at={at} /> },
  {
    title: words.columns.org,
    always: true,
    cell: ({ org, org_name, kind }) => (
      <Stack gap={0}>
        <span className="name clamped">
          <OrganizationName id={org} name={org_name} />
        </span>
        <Text size="xs" c="dimmed" hiddenFrom="sm">
          {words.kinds[kind]}
        </Text>
      </Stack>
    ),
  },
  { title: words.columns.kind, cell: ({ kind }) => words.kinds[kind] },
  {
    title: words.columns.reference,
    cell: ({ source, reference }) => (
      <Stack gap={0}>
        <span className="name">{reference}</span>
        <Text size="xs" c="dimmed">
          {source}
        </Text>
      </Stack>
    ),
  },
  { title: words.columns.by, cell: ({ by }) => <By of={by} /> },
  {
    title: words.columns.amount,
    always: true,
    figures: true,
    cell: ({ amount_usd }) => <ExactMoney usd={amount_usd} />,
  },
  {
    title: words.columns.balance,
    figures: true,
    cell: ({ balance_after_usd }) => <ExactMoney usd={balance_after_usd} />,
  },
];
