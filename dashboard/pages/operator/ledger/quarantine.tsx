// Requests whose record is damaged: their credits stay held until an operator has charged or released them.
import { Button, Checkbox, Stack, Text, TextInput } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useChange } from "../../../api/change.ts";
import { moreOf, readPages } from "../../../api/read.ts";
import type { Row } from "../../../api/routes.ts";
import { AmountField } from "../../../components/amount-field.tsx";
import { Caution } from "../../../components/caution.tsx";
import { type Column, DataTable } from "../../../components/data-table.tsx";
import { FormDialog } from "../../../components/dialogs.tsx";
import { ExactMoney, Time } from "../../../components/figures.tsx";
import { Link } from "../../../components/link.tsx";
import { Section } from "../../../components/page.tsx";
import { Failure } from "../../../components/states.tsx";
import { isAmount } from "../../../format/amount.ts";
import { compareMoney } from "../../../format/money.ts";
import { path } from "../../../path-builder.ts";
import { operatorLedgerTexts } from "./texts.ts";
import { OrganizationName } from "../../../components/organization-name.tsx";

type Quarantined = Row<"GET /operator/quarantine">;

const words = operatorLedgerTexts.quarantine;

/** Renders nothing if there are none, so that nobody has to learn the word. */
export function Quarantine() {
  const quarantine = useInfiniteQuery({
    ...readPages("GET /operator/quarantine", {}),
    refetchInterval: 5_000,
  });
  const [of, setOf] = useState<Quarantined | null>(null);
  if (quarantine.error !== null) return <Failure error={quarantine.error} />;
  const rows = quarantine.data ?? [];
  return (
    <>
      {rows.length > 0 && (
        <Section title={words.title}>
          <Caution>
            <Text size="sm">{words.help}</Text>
          </Caution>
          <DataTable
            label={words.title}
            rows={rows}
            rowKey={({ id }) => id}
            columns={columns(setOf)}
            more={moreOf(quarantine)}
          />
        </Section>
      )}
      {of !== null && <ResolveDialog of={of} onClose={() => setOf(null)} />}
    </>
  );
}

const columns = (resolve: (of: Quarantined) => void): Column<Quarantined>[] => [
  {
    title: words.columns.org,
    always: true,
    cell: ({ id, org, org_name, reason }) => (
      <Stack gap={0}>
        <Link to={path.organization(org)} size="sm" className="name clamped">
          <OrganizationName id={org} name={org_name} />
        </Link>
        <Text size="xs" c="dimmed" className="name" hiddenFrom="sm">
          {reason.includes(id) ? reason : `${id}: ${reason}`}
        </Text>
      </Stack>
    ),
  },
  {
    title: words.columns.request,
    saidFirst: true,
    cell: ({ id, model }) => (
      <Stack gap={0}>
        <span className="name">{id}</span>
        <Text size="xs" c="dimmed" className="name">
          {model}
        </Text>
      </Stack>
    ),
  },
  { title: words.columns.admitted, cell: ({ admitted_at }) => <Time at={admitted_at} /> },
  {
    title: words.columns.reason,
    saidFirst: true,
    always: true,
    cell: ({ reason }) => <span className="name">{reason}</span>,
  },
  {
    title: words.columns.held,
    always: true,
    figures: true,
    cell: ({ held_usd }) => <ExactMoney usd={held_usd} />,
  },
  {
    title: words.columns.act,
    always: true,
    cell: (row) => (
      <Button
        variant="default"
        size="compact-sm"
        onClick={() => resolve(row)}
        aria-label={words.resolveOf(row.id)}
      >
        {words.resolve}
      </Button>
    ),
  },
];

function ResolveDialog({ of, onClose }: { of: Quarantined; onClose: () => void }) {
  const [release, setRelease] = useState(false);
  const [amount, setAmount] = useState("");
  const [reason, setReason] = useState("");
  const resolve = useChange("POST /operator/quarantine/{request}/resolve", { request: of.id }, onClose);
  const tooMuch = isAmount(amount) && compareMoney(amount.trim(), of.held_usd) > 0;
  const ready = reason.trim() !== "" && (release || (isAmount(amount) && !tooMuch));
  return (
    <FormDialog
      title={words.resolveOf(of.id)}
      action={release ? words.release : words.charge}
      mutation={resolve}
      disabled={!ready}
      onClose={onClose}
      onSubmit={() => resolve.mutate({ charge_usd: release ? null : amount.trim(), reason: reason.trim() })}
    >
      <Text size="sm">
        {words.held} <ExactMoney usd={of.held_usd} />
      </Text>
      <Text size="sm" c="dimmed" className="name">
        {of.reason}
      </Text>
      <AmountField
        label={words.amount}
        data-field="charge_usd"
        description={words.amountHelp}
        autoComplete="off"
        data-autofocus
        disabled={release}
        value={amount}
        error={tooMuch ? words.tooMuch : null}
        onChange={setAmount}
      />
      <Checkbox
        label={words.releaseInstead}
        checked={release}
        onChange={(event) => setRelease(event.currentTarget.checked)}
      />
      <TextInput
        label={words.reason}
        data-field="reason"
        description={words.reasonHelp}
        maxLength={500}
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
      />
    </FormDialog>
  );
}
