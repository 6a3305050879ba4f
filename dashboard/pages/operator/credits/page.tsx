// Money in and out of every organization: the ledger's transactions, the orders, the events of payment services.
import { Button } from "@mantine/core";
import { useState } from "react";
import { addressOf } from "../../../api/routes.ts";
import { Choice } from "../../../components/choice.tsx";
import { FilterRow } from "../../../components/filters.tsx";
import { Icon } from "../../../components/icon.tsx";
import { FileLink } from "../../../components/link.tsx";
import { OrganizationFilter } from "../../../components/organization-select.tsx";
import { Page } from "../../../components/page.tsx";
import { RefundDialog } from "./refund.tsx";
import { oneOf, text, useFilters } from "../../../filters.ts";
import { operatorCreditsTexts as words } from "./texts.ts";
import { operatorPageNames } from "../../../components/texts.ts";
import { GrantDialog } from "./grant.tsx";
import { Transactions } from "./transactions.tsx";
import { Orders } from "./orders.tsx";
import { Payments } from "./payments.tsx";

const CSV = {
  transactions: "GET /operator/credits.csv",
  orders: "GET /operator/orders.csv",
  payments: "GET /operator/payments.csv",
} as const;
const LISTS = { transactions: Transactions, orders: Orders, payments: Payments } as const;
const SHOWN = ["transactions", "orders", "payments"] as const;
const SHAPE = { org: text(), show: oneOf(SHOWN, "transactions") };

export function CreditsPage() {
  const [{ org, show }, setFilters] = useFilters(SHAPE);
  const [act, setAct] = useState<"grant" | "refund" | null>(null);
  const close = (): void => setAct(null);
  const grant = (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setAct("grant")}>
      {words.grant}
    </Button>
  );
  const refund = (
    <Button variant="default" onClick={() => setAct("refund")}>
      {words.refund}
    </Button>
  );
  const List = LISTS[show];
  return (
    <Page
      title={operatorPageNames.credits}
      lead={words.lead}
      actions={
        <>
          <FileLink to={addressOf(CSV[show], {}, { org })}>{words.csv}</FileLink>
          {refund}
          {grant}
        </>
      }
    >
      <FilterRow>
        <Choice
          label={words.show}
          value={show}
          of={SHAPE.show}
          set={(chosen) => setFilters({ show: chosen })}
          data={SHOWN.map((value) => ({ value, label: words.shown[value] }))}
          kept
        />
        <OrganizationFilter value={org} set={(next) => setFilters({ org: next })} />
      </FilterRow>
      <List org={org} grant={grant} />
      {act === "grant" && <GrantDialog onClose={close} />}
      {act === "refund" && <RefundDialog onClose={close} />}
    </Page>
  );
}
