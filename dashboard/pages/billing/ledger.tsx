// The ledger with its running balance: every entry that changed what the organization owns, by month and kind, as CSV.
import { Checkbox, Group, Select } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { moreOf, readPages } from "../../api/read.ts";
import { type Row, addressOf } from "../../api/routes.ts";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { ExactMoney, Time } from "../../components/figures.tsx";
import { ButtonLink, Link } from "../../components/link.tsx";
import { Section } from "../../components/page.tsx";
import { Loaded } from "../../components/states.tsx";
import { oneOf, text, useFilters } from "../../filters.ts";
import { formatCount } from "../../format/count.ts";
import { isNegative } from "../../format/money.ts";
import { formatMonth, lastMonths, monthWindow } from "../../format/month.ts";
import { path } from "../../path-builder.ts";
import { EntryDrawer } from "./entry-drawer.tsx";
import { entryTexts } from "./entry-texts.ts";
import { billingTexts as words } from "./texts.ts";
import { tableTexts } from "../../components/texts.ts";

type LedgerEntry = Row<"GET /orgs/{org}/billing/ledger">;

const MONTHS_OFFERED = 24;
const KINDS = [
  "charge",
  "purchase",
  "grant",
  "refund",
  "chargeback",
  "chargeback_debt",
  "debt_paid",
] as const;
const SHAPE = {
  entry: text(),
  holds: oneOf(["false", "true"], "false"),
  kind: oneOf(["", ...KINDS], ""),
  month: text(),
};

export function Ledger({ org }: { org: string }) {
  const [{ entry, holds, kind, month }, setFilters] = useFilters(SHAPE);
  const asked = { holds, kind, ...monthWindow(month) };
  const ledger = useInfiniteQuery(readPages("GET /orgs/{org}/billing/ledger", { org }, asked));
  return (
    <Section
      title={words.ledger}
      actions={
        <ButtonLink
          to={addressOf("GET /orgs/{org}/billing/ledger.csv", { org }, asked)}
          reloadDocument
          variant="default"
          size="xs"
        >
          {words.csv}
        </ButtonLink>
      }
    >
      <Group gap="sm" align="flex-end">
        <Select
          label={words.month}
          w={190}
          clearable
          placeholder={words.allMonths}
          clearButtonProps={{ "aria-label": tableTexts.clear }}
          data={lastMonths(MONTHS_OFFERED).map((value) => ({ value, label: formatMonth(value) }))}
          value={month === "" ? null : month}
          onChange={(value) => setFilters({ month: value ?? "" })}
        />
        <Select
          label={words.kind}
          w={190}
          clearable
          placeholder={words.allKinds}
          clearButtonProps={{ "aria-label": tableTexts.clear }}
          data={KINDS.map((value) => ({ value, label: words.kinds[value] }))}
          value={kind === "" ? null : kind}
          onChange={(value) => setFilters({ kind: SHAPE.kind(value ?? "") })}
        />
        <Checkbox
          label={words.showHolds}
          pb={8}
          checked={holds === "true"}
          onChange={(event) => setFilters({ holds: event.currentTarget.checked ? "true" : "false" })}
        />
      </Group>
      <Loaded query={ledger}>
        {(rows) => (
          <DataTable
            label={words.ledger}
            rows={rows}
            rowKey={({ n }) => String(n)}
            columns={columns(org)}
            onOpen={({ n }) => setFilters({ entry: String(n) })}
            more={moreOf(ledger)}
          />
        )}
      </Loaded>
      <EntryDrawer org={org} entry={entry} onClose={() => setFilters({ entry: "" })} />
    </Section>
  );
}

const columns = (org: string): Column<LedgerEntry>[] => [
  {
    title: entryTexts.column,
    cell: ({ n }) => (
      <Link
        to={path.organization(org, "billing")}
        search={(now: Record<string, unknown>) => ({ ...now, entry: String(n) })}
        resetScroll={false}
        size="sm"
        className="figures"
      >
        {entryTexts.link(formatCount(n))}
      </Link>
    ),
    always: true,
  },
  { title: words.columns.at, cell: ({ at }) => <Time at={at} /> },
  {
    title: words.columns.kind,
    always: true,
    cell: ({ kind, requests }) =>
      requests > 1 ? `${words.kinds[kind]} (${words.requests(formatCount(requests))})` : words.kinds[kind],
  },
  {
    title: words.columns.reference,
    cell: ({ reference }) =>
      reference?.startsWith("req_") === true ? (
        <Link to={path.organization(org, "activity")} search={{ req: reference }} size="sm" className="name">
          {reference}
        </Link>
      ) : (
        <span className="name">{reference ?? ""}</span>
      ),
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
