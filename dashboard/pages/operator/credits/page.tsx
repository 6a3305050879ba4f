// Money in and out of every organization: the ledger's moves, what was ordered, what payment services told.
import { Button, Group, SegmentedControl, Select } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { organizationsQuery } from "../../../api/organizations.ts";
import { Icon } from "../../../components/icon.tsx";
import { Page } from "../../../components/page.tsx";
import { oneOf, text, useFilters } from "../../../filters.ts";
import { texts } from "../../../texts.ts";
import { GrantDialog } from "./grant.tsx";
import { Moves } from "./moves.tsx";
import { Orders } from "./orders.tsx";
import { Payments } from "./payments.tsx";

const words = texts.operatorCredits;
const LISTS = { moves: Moves, orders: Orders, payments: Payments } as const;
const SHOWN = ["moves", "orders", "payments"] as const;
const SHAPE = { org: text(), show: oneOf(SHOWN, "moves") };

export function CreditsPage() {
  const [{ org, show }, setFilters] = useFilters(SHAPE);
  const { data: organizations = [] } = useInfiniteQuery(organizationsQuery(""));
  const [granting, setGranting] = useState(false);
  const grant = (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setGranting(true)}>
      {words.grant}
    </Button>
  );
  const List = LISTS[show];
  return (
    <Page title={texts.operatorPages.credits} lead={words.lead} actions={grant}>
      <Group gap="sm" align="flex-end">
        <Select
          label={words.org}
          placeholder={words.allOrgs}
          searchable
          clearable
          clearButtonProps={{ "aria-label": texts.table.clear }}
          data={organizations.map(({ id, name }) => ({ value: id, label: name }))}
          value={org === "" ? null : org}
          onChange={(next) => setFilters({ org: next ?? "" })}
        />
        <SegmentedControl
          aria-label={words.show}
          value={show}
          onChange={(value) => setFilters({ show: SHAPE.show(value) })}
          data={SHOWN.map((value) => ({ value, label: words.shown[value] }))}
        />
      </Group>
      <List org={org} nameOf={(id) => organizations.find((one) => one.id === id)?.name ?? id} grant={grant} />
      {granting && <GrantDialog organizations={organizations} onClose={() => setGranting(false)} />}
    </Page>
  );
}
