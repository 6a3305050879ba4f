// Credits as one arithmetic line, what is held right now, and the ledger with its running balance.
import { Button, Checkbox, Group, Paper, SimpleGrid, Text } from "@mantine/core";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import {
  autoTopUpQuery,
  type Billing,
  billingQuery,
  holdsQuery,
  type LedgerEntry,
  ledgerQuery,
  type OpenHold,
} from "../../api/billing.ts";
import { withQuery } from "../../api/client.ts";
import { api } from "../../api/paths.ts";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { Ago, ExactMoney, Money, Time } from "../../components/figures.tsx";
import { Icon } from "../../components/icon.tsx";
import { ButtonLink, Link } from "../../components/link.tsx";
import { Page, Section } from "../../components/page.tsx";
import { Failure, Loaded, Loading } from "../../components/states.tsx";
import { Tile } from "../../components/tile.tsx";
import { oneOf, text, useFilters } from "../../filters.ts";
import { formatCount } from "../../format/count.ts";
import { isNegative, isZero } from "../../format/money.ts";
import { useMembership } from "../../membership.tsx";
import { path } from "../../path-builder.ts";
import { texts } from "../../texts.ts";
import { AutoTopUpCard } from "./auto-top-up.tsx";
import { OrderCourse } from "./order-course.tsx";
import { OrderDialog } from "./order.tsx";

const words = texts.billing;
const SHAPE = {
  holds: oneOf(["false", "true"], "false"),
  /** The payment page sends back with it. */
  order: text(),
};

export function BillingPage() {
  const { org, may } = useMembership();
  const billing = useQuery(billingQuery(org.id));
  const [ordering, setOrdering] = useState(false);
  const [{ order }, setFilters] = useFilters(SHAPE);
  const mayBuy = may("credits.buy") && billing.data !== undefined && billing.data.drivers.length > 0;
  return (
    <Page
      title={texts.pages.billing}
      lead={words.lead}
      actions={
        mayBuy && (
          <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setOrdering(true)}>
            {words.add}
          </Button>
        )
      }
    >
      <Loaded query={billing}>
        {(of) => (
          <>
            {order !== "" && (
              <OrderCourse org={org.id} order={order} onClose={() => setFilters({ order: "" })} />
            )}
            <Balance of={of} />
            {of.open_holds > 0 && <Holds org={org.id} />}
            {mayBuy && <Auto org={org.id} />}
            <Ledger org={org.id} />
            {ordering && (
              <OrderDialog org={org.id} presets={of.presets_usd} onClose={() => setOrdering(false)} />
            )}
          </>
        )}
      </Loaded>
    </Page>
  );
}

const Balance = ({ of }: { of: Billing }) => (
  <>
    <SimpleGrid cols={{ base: 1, xs: 3 }}>
      <Tile title={words.available}>
        <Money usd={of.available_usd} />
      </Tile>
      <Tile title={words.held} note={words.open(formatCount(of.open_holds))}>
        <Money usd={of.held_usd} />
      </Tile>
      <Tile title={words.debt} note={isZero(of.debt_usd) ? words.noDebt : words.debtNote}>
        <Money usd={of.debt_usd} />
      </Tile>
    </SimpleGrid>
    <Paper withBorder p="md">
      <Text size="sm" className="name">
        {words.purchases} <ExactMoney usd={of.purchases_usd} /> + {words.grants}{" "}
        <ExactMoney usd={of.grants_usd} /> + {words.refunds} <ExactMoney usd={of.refunds_usd} /> −{" "}
        {words.charges} <ExactMoney usd={of.charges_usd} /> − {words.chargebacks}{" "}
        <ExactMoney usd={of.chargebacks_usd} /> ={" "}
        <b>
          {words.availableHeld} <ExactMoney usd={of.available_usd} /> + <ExactMoney usd={of.held_usd} />
        </b>
        {!isZero(of.debt_usd) && (
          <>
            {" − "}
            {words.debt.toLowerCase()} <ExactMoney usd={of.debt_usd} />
          </>
        )}
      </Text>
      {!isZero(of.drift_usd) && (
        <Text size="sm" c="var(--tone-bad)">
          {words.drift} <ExactMoney usd={of.drift_usd} />
        </Text>
      )}
    </Paper>
  </>
);

function Holds({ org }: { org: string }) {
  const holds = useQuery(holdsQuery(org));
  const columns: Column<OpenHold>[] = [
    {
      title: words.columns.request,
      always: true,
      cell: ({ request }) => (
        <Link to={path.organization(org, "activity")} search={{ req: request }} size="sm" className="name">
          {request}
        </Link>
      ),
    },
    { title: words.columns.key, cell: ({ key }) => <span className="name">{key.name}</span> },
    { title: words.columns.age, cell: ({ admitted_at }) => <Ago at={admitted_at} /> },
    { title: words.columns.deadline, cell: ({ deadline_at }) => <Ago at={deadline_at} /> },
    {
      title: words.columns.amount,
      always: true,
      figures: true,
      cell: ({ amount_usd }) => <ExactMoney usd={amount_usd} />,
    },
  ];
  return (
    <Section title={words.holds}>
      <Loaded query={holds}>
        {({ data }) => (
          <DataTable label={words.holds} rows={data} rowKey={({ request }) => request} columns={columns} />
        )}
      </Loaded>
    </Section>
  );
}

function Auto({ org }: { org: string }) {
  const auto = useQuery(autoTopUpQuery(org));
  return (
    <Section title={words.auto}>
      <Loaded query={auto} loading={<Loading lines={1} height={90} />}>
        {(of) => <AutoTopUpCard org={org} of={of} />}
      </Loaded>
    </Section>
  );
}

function Ledger({ org }: { org: string }) {
  const [{ holds }, setFilters] = useFilters(SHAPE);
  const ledger = useInfiniteQuery(ledgerQuery(org, { holds }));
  return (
    <Section
      title={words.ledger}
      actions={
        <Group gap="sm">
          <Checkbox
            label={words.showHolds}
            checked={holds === "true"}
            onChange={(event) => setFilters({ holds: event.currentTarget.checked ? "true" : "false" })}
          />
          <ButtonLink
            to={withQuery(api.ledgerCsv(org), { holds })}
            reloadDocument
            variant="default"
            size="xs"
          >
            {words.csv}
          </ButtonLink>
        </Group>
      }
    >
      {ledger.error !== null && <Failure error={ledger.error} retry={() => void ledger.refetch()} />}
      {ledger.isPending && <Loading lines={5} />}
      {ledger.data !== undefined && (
        <DataTable
          label={words.ledger}
          rows={ledger.data.pages.flatMap(({ data }) => data)}
          rowKey={({ n }) => String(n)}
          columns={ENTRIES}
          more={
            ledger.hasNextPage
              ? { load: () => void ledger.fetchNextPage(), loading: ledger.isFetchingNextPage }
              : undefined
          }
        />
      )}
    </Section>
  );
}

const ENTRIES: Column<LedgerEntry>[] = [
  { title: words.columns.at, always: true, cell: ({ at }) => <Time at={at} /> },
  {
    title: words.columns.kind,
    always: true,
    cell: ({ kind, requests }) =>
      requests > 1 ? `${words.kinds[kind]} (${words.requests(formatCount(requests))})` : words.kinds[kind],
  },
  {
    title: words.columns.reference,
    cell: ({ reference }) => <span className="name">{reference ?? ""}</span>,
  },
  {
    title: words.columns.amount,
    always: true,
    figures: true,
    cell: ({ amount_usd }) => (
      <span style={isNegative(amount_usd) ? undefined : { color: "var(--tone-good)" }}>
        <ExactMoney usd={amount_usd} />
      </span>
    ),
  },
  {
    title: words.columns.balance,
    figures: true,
    cell: ({ balance_usd }) => <ExactMoney usd={balance_usd} />,
  },
];
