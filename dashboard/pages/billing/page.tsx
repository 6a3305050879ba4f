// Credits as one line of arithmetic, what is held right now, and the ledger with its running balance.
import { Button, Paper, SimpleGrid, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { read } from "../../api/read.ts";
import type { Answer } from "../../api/routes.ts";
import { ExactMoney, Money } from "../../components/figures.tsx";
import { Icon } from "../../components/icon.tsx";
import { Link } from "../../components/link.tsx";
import { Page, Section } from "../../components/page.tsx";
import { Loaded, Loading } from "../../components/states.tsx";
import { Tile } from "../../components/tile.tsx";
import { text, useFilters } from "../../filters.ts";
import { formatCount } from "../../format/count.ts";
import { isZero } from "../../format/money.ts";
import { useMembership } from "../../membership.tsx";
import { path } from "../../path-builder.ts";
import { billingTexts as words } from "./texts.ts";
import { pageNames } from "../../components/texts.ts";
import { AutoTopUpCard } from "./auto-top-up.tsx";
import { Holds } from "./holds.tsx";
import { Ledger } from "./ledger.tsx";
import { OrderProgress } from "./order-progress.tsx";
import { OrderDialog } from "./order.tsx";
import { Orders } from "./orders.tsx";
import { Statement } from "./statement.tsx";

type Billing = Answer<"GET /orgs/{org}/billing">;

/** The payment service sends people back with the order that they paid. */
const SHAPE = { order: text() };

export function BillingPage() {
  const { org, may } = useMembership();
  const billing = useQuery({ ...read("GET /orgs/{org}/billing", { org: org.id }), refetchInterval: 10_000 });
  const [{ order }, setFilters] = useFilters(SHAPE);
  const [ordering, setOrdering] = useState(false);
  const sold = billing.data !== undefined && billing.data.drivers.length > 0;
  const mayBuy = may("credits.buy") && sold;
  return (
    <Page
      title={pageNames.billing}
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
              <OrderProgress org={org.id} order={order} onClose={() => setFilters({ order: "" })} />
            )}
            <Balance of={of} />
            {of.open_holds > 0 && <Holds org={org.id} />}
            {sold && <Auto org={org.id} mayChange={mayBuy} />}
            <Statement org={org.id} />
            <Ledger org={org.id} />
            {sold && <Orders org={org.id} mayPay={mayBuy} />}
            {ordering && <OrderDialog org={org.id} of={of} onClose={() => setOrdering(false)} />}
          </>
        )}
      </Loaded>
    </Page>
  );
}

const Balance = ({ of }: { of: Billing }) => (
  <>
    <SimpleGrid cols={{ base: 1, xs: 3 }}>
      <Tile title={words.available} note={<AlertsLink />}>
        <Money usd={of.available_usd} />
      </Tile>
      <Tile title={words.held} note={words.open(formatCount(of.open_holds))}>
        <Money usd={of.held_usd} />
      </Tile>
      <Tile title={words.debt} note={isZero(of.debt_usd) ? words.noDebt : <DebtNote />}>
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
          {words.isAvailable} <ExactMoney usd={of.available_usd} /> + {words.isHeld}{" "}
          <ExactMoney usd={of.held_usd} />
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

function AlertsLink() {
  const { org, may } = useMembership();
  if (!may("alerts.change")) return null;
  return (
    <Link to={path.organization(org.id, "alerts")} size="xs">
      {words.notice}
    </Link>
  );
}

function DebtNote() {
  const { org } = useMembership();
  return (
    <>
      {words.debtNote}{" "}
      <Link to={path.organization(org.id, "billing")} search={{ kind: "chargeback_debt" }} size="xs">
        {words.debtCause}
      </Link>
    </>
  );
}

function Auto({ org, mayChange }: { org: string; mayChange: boolean }) {
  const auto = useQuery(read("GET /orgs/{org}/billing/auto-top-up", { org }));
  return (
    <Section title={words.auto}>
      <Loaded query={auto} loading={<Loading lines={1} height={90} />}>
        {(of) => <AutoTopUpCard org={org} of={of} mayChange={mayChange} />}
      </Loaded>
    </Section>
  );
}
