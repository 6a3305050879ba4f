// The ledger with its running balance: every entry that changed the organization's credits, by month and kind, and as
// CSV.
import { Select } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { moreOf, readPages } from "../../api/read.ts";
import { type Row, addressOf } from "../../api/routes.ts";
import { Choice, FITTING } from "../../components/choice.tsx";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { ExactMoney, Time } from "../../components/figures.tsx";
import { chipOf, FilterRow } from "../../components/filters.tsx";
import { FileLink, Link } from "../../components/link.tsx";
import { Section } from "../../components/page.tsx";
import { Loaded } from "../../components/states.tsx";
import { month as monthFilter, oneOf, text, useFilters, useSetFilters } from "../../filters.ts";
import { formatCount } from "../../format/count.ts";
import { isNegative } from "../../format/money.ts";
import { formatMonth, lastMonths, monthWindow, MONTHS_OFFERED } from "../../format/month.ts";
import { path } from "../../path-builder.ts";
import { EntryDrawer } from "./entry-drawer.tsx";
import { entryTexts } from "./entry-texts.ts";
import { entryWords } from "./reference-words.ts";
import { billingTexts as words } from "./texts.ts";
import { tableTexts } from "../../components/texts.ts";

type LedgerEntry = Row<"GET /orgs/{org}/billing/ledger">;

const KINDS = [
  "charge",
  "purchase",
  "grant",
  "refund",
  "chargeback",
  "chargeback_debt",
  "debt_paid",
] as const;
const HELD_ROWS = ["false", "true"] as const;
const DRAWER = { entry: text() };
const SHAPE = {
  holds: oneOf(HELD_ROWS, "false"),
  kind: oneOf(["", ...KINDS], ""),
  month: monthFilter,
};

export function Ledger({ org }: { org: string }) {
  const [{ holds, kind, month }, setFilters] = useFilters(SHAPE);
  const setDrawer = useSetFilters(DRAWER);
  const columns = useMemo(() => columnsOf(org), [org]);
  const asked = { holds, kind, ...monthWindow(month) };
  const ledger = useInfiniteQuery(readPages("GET /orgs/{org}/billing/ledger", { org }, asked));
  return (
    <Section
      title={words.ledger}
      actions={
        <FileLink to={addressOf("GET /orgs/{org}/billing/ledger.csv", { org }, asked)} size="xs">
          {words.csv}
        </FileLink>
      }
    >
      <FilterRow>
        <Select
          label={words.month}
          clearable
          comboboxProps={FITTING}
          {...chipOf(month !== "")}
          placeholder={words.all}
          clearButtonProps={{ "aria-label": tableTexts.clear }}
          data={lastMonths(MONTHS_OFFERED).map((value) => ({ value, label: formatMonth(value) }))}
          value={month === "" ? null : month}
          onChange={(value) => setFilters({ month: value ?? "" })}
        />
        <Choice
          label={words.kind}
          value={kind}
          of={SHAPE.kind}
          set={(chosen) => setFilters({ kind: chosen })}
          data={[
            { value: "", label: words.all },
            ...KINDS.map((value) => ({ value, label: words.kinds[value] })),
          ]}
        />
        <Choice
          label={words.heldRows}
          value={holds}
          of={SHAPE.holds}
          set={(chosen) => setFilters({ holds: chosen })}
          data={HELD_ROWS.map((value) => ({ value, label: words.heldRowsShown[value] }))}
        />
      </FilterRow>
      <Loaded query={ledger}>
        {(rows) => (
          <DataTable
            label={words.ledger}
            rows={rows}
            rowKey={({ n }) => String(n)}
            columns={columns}
            onOpen={({ n }) => setDrawer({ entry: String(n) })}
            more={moreOf(ledger)}
            {...(ledger.hasNextPage && { none: words.further })}
          />
        )}
      </Loaded>
      <OpenEntry org={org} />
    </Section>
  );
}

/** Separate from the list, so that no row is rendered again when it opens. */
function OpenEntry({ org }: { org: string }) {
  const [{ entry }, setFilters] = useFilters(DRAWER);
  return <EntryDrawer org={org} entry={entry} onClose={() => setFilters({ entry: "" })} />;
}

/** A link to the entry's drawer, which lists the requests that it covers. */
const ToEntry = ({ org, n, children }: { org: string; n: number; children: string }) => (
  <Link
    to={path.organization(org, "billing")}
    search={(now: Record<string, unknown>) => ({ ...now, entry: String(n) })}
    resetScroll={false}
    size="sm"
    className="figures"
  >
    {children}
  </Link>
);

const columnsOf = (org: string): Column<LedgerEntry>[] => [
  {
    title: entryTexts.column,
    cell: ({ n }) => (
      <ToEntry org={org} n={n}>
        {entryTexts.link(formatCount(n))}
      </ToEntry>
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
    wider: true,
    cell: ({ n, kind, reference, requests }) =>
      requests > 0 ? (
        <ToEntry org={org} n={n}>
          {entryWords({ kind, reference, requests })}
        </ToEntry>
      ) : reference?.startsWith("req_") === true ? (
        <Link to={path.organization(org, "activity")} search={{ req: reference }} size="sm" className="name">
          {reference}
        </Link>
      ) : (
        <span className="name">{entryWords({ kind, reference, requests })}</span>
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
