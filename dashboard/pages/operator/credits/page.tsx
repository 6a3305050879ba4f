// Money in and out of every organization; a grant needs a reason and a reference that works once.
import { Alert, Button, Select, Stack, Text, TextInput } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type Credit, creditsQuery, type Granted, useGrant } from "../../../api/office.ts";
import { organizationsQuery } from "../../../api/organizations.ts";
import { moreOf } from "../../../api/paged.ts";
import { type Column, DataTable } from "../../../components/data-table.tsx";
import { FormDialog } from "../../../components/dialogs.tsx";
import { ExactMoney, Time } from "../../../components/figures.tsx";
import { Icon } from "../../../components/icon.tsx";
import { Page } from "../../../components/page.tsx";
import { Empty, Loaded } from "../../../components/states.tsx";
import { text, useFilters } from "../../../filters.ts";
import { amountProblem, isAmount } from "../../../format/amount.ts";
import { texts } from "../../../texts.ts";

const words = texts.operatorCredits;
const SHAPE = { org: text() };

export function CreditsPage() {
  const [filters] = useFilters(SHAPE);
  const credits = useInfiniteQuery(creditsQuery(filters));
  const [granting, setGranting] = useState(false);
  const grant = (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setGranting(true)}>
      {words.grant}
    </Button>
  );
  return (
    <Page title={texts.operatorPages.credits} lead={words.lead} actions={grant}>
      <Loaded query={credits}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty icon="credits" action={grant}>
              {words.empty}
            </Empty>
          ) : (
            <DataTable
              label={texts.operatorPages.credits}
              rows={rows}
              rowKey={({ org, source, reference, kind }) => `${org} ${source} ${reference} ${kind}`}
              columns={COLUMNS}
              more={moreOf(credits)}
            />
          )
        }
      </Loaded>
      {granting && <GrantDialog onClose={() => setGranting(false)} />}
    </Page>
  );
}

const COLUMNS: Column<Credit>[] = [
  { title: words.columns.at, always: true, cell: ({ at }) => <Time at={at} /> },
  {
    title: words.columns.org,
    always: true,
    cell: ({ org_name }) => <span className="name">{org_name}</span>,
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
  { title: words.columns.by, cell: ({ by }) => <span className="name">{by?.name ?? by?.id ?? "–"}</span> },
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

function GrantDialog({ onClose }: { onClose: () => void }) {
  const organizations = useInfiniteQuery(organizationsQuery(""));
  const [org, setOrg] = useState<string | null>(null);
  const [kind, setKind] = useState<"grant" | "purchase">("grant");
  const [amount, setAmount] = useState("");
  const [reference, setReference] = useState("");
  const [reason, setReason] = useState("");
  const [granted, setGranted] = useState<Granted | null>(null);
  const grant = useGrant(setGranted);
  const ready = org !== null && isAmount(amount) && reference.trim() !== "" && reason.trim() !== "";
  return (
    <FormDialog
      opened
      title={words.grant}
      action={granted === null ? words.grant : texts.dialog.close}
      mutation={grant}
      disabled={granted === null && !ready}
      onClose={onClose}
      onSubmit={() =>
        granted === null
          ? org !== null &&
            grant.mutate({
              org,
              kind,
              amount_usd: amount.trim(),
              reference: reference.trim(),
              reason: reason.trim(),
            })
          : onClose()
      }
    >
      {granted === null ? (
        <>
          <Select
            label={words.columns.org}
            searchable
            data={(organizations.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
            value={org}
            onChange={setOrg}
          />
          <Select
            label={words.columns.kind}
            allowDeselect={false}
            data={[
              { value: "grant", label: words.grantHelp },
              { value: "purchase", label: words.purchaseHelp },
            ]}
            value={kind}
            onChange={(value) => setKind(value === "purchase" ? "purchase" : "grant")}
          />
          <TextInput
            label={words.amount}
            inputMode="decimal"
            leftSection="$"
            value={amount}
            error={amountProblem(amount)}
            onChange={(event) => setAmount(event.currentTarget.value)}
          />
          <TextInput
            label={words.reference}
            description={words.referenceHelp}
            maxLength={200}
            value={reference}
            onChange={(event) => setReference(event.currentTarget.value)}
          />
          <TextInput
            label={words.reason}
            maxLength={500}
            value={reason}
            onChange={(event) => setReason(event.currentTarget.value)}
          />
        </>
      ) : (
        <Alert color={granted.credited ? "green" : "yellow"} variant="light" role="status">
          <Text size="sm">
            {granted.credited ? words.credited : words.repeated} <ExactMoney usd={granted.before_usd} /> →{" "}
            <ExactMoney usd={granted.after_usd} />
          </Text>
        </Alert>
      )}
    </FormDialog>
  );
}
