// Spend, requests and tokens over time and by group: a chart, its table, a CSV, all of the same window in the address.
import { Group, SegmentedControl, Select, SimpleGrid, Table } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { withQuery } from "../../api/client.ts";
import { api } from "../../api/paths.ts";
import { type Usage, usageQuery } from "../../api/spend.ts";
import type { Bucket } from "../../components/chart.tsx";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { ExactMoney, Money } from "../../components/figures.tsx";
import { Figure } from "../../components/figure.tsx";
import { ButtonLink } from "../../components/link.tsx";
import { Page } from "../../components/page.tsx";
import { Empty, Loaded } from "../../components/states.tsx";
import { Tile } from "../../components/tile.tsx";
import { type Filters, oneOf, text, useFilters } from "../../filters.ts";
import { formatCount, shortCount } from "../../format/count.ts";
import { formatMoney, heightOf } from "../../format/money.ts";
import { formatDay, formatTime } from "../../format/time.ts";
import { useMembership } from "../../membership.tsx";
import { path } from "../../path-builder.ts";
import { texts } from "../../texts.ts";

const words = texts.usage;
const MEASURES = ["charge_usd", "requests", "input_tokens", "cached_tokens", "output_tokens"] as const;
type Measure = (typeof MEASURES)[number];
const GROUPS = ["model", "key", "member", "scope", "provider", "region"] as const;
const SHAPE = {
  range: oneOf(["24h", "7d", "30d", "month"], "30d"),
  group_by: oneOf(GROUPS, "model"),
  measure: oneOf(MEASURES, "charge_usd"),
  key: text(),
  model: text(),
};
/** More would not be told apart; the rest is one series. */
const SERIES_AT_MOST = 8;

export function UsagePage() {
  const { org } = useMembership();
  const [filters, setFilters] = useFilters(SHAPE);
  const { measure, ...asked } = filters;
  const usage = useQuery(usageQuery(org.id, asked));
  return (
    <Page
      title={texts.pages.usage}
      lead={words.lead}
      actions={
        <ButtonLink to={withQuery(api.usageCsv(org.id), asked)} reloadDocument variant="default">
          {words.csv}
        </ButtonLink>
      }
    >
      <UsageFilters filters={filters} set={setFilters} />
      <Loaded query={usage}>
        {(data) =>
          data.total.requests === 0 ? (
            <Empty
              icon="usage"
              action={<ButtonLink to={path.organization(org.id, "playground")}>{words.send}</ButtonLink>}
            >
              {words.empty}
            </Empty>
          ) : (
            <>
              <Totals of={data.total} />
              <Figure
                title={words.measures[measure]}
                summary={words.summary(data.rows.length, texts.ranges[filters.range])}
                series={seriesOf(data)}
                buckets={bucketsOf(data, measure)}
                format={measure === "charge_usd" ? (value) => formatMoney(String(value)) : shortCount}
                table={<Groups of={data} />}
              />
              <Groups of={data} />
            </>
          )
        }
      </Loaded>
    </Page>
  );
}

const UsageFilters = ({
  filters,
  set,
}: {
  filters: Filters<typeof SHAPE>;
  set: (change: Partial<Filters<typeof SHAPE>>) => void;
}) => (
  <Group gap="sm" align="flex-end">
    <Select
      label={words.range}
      w={160}
      allowDeselect={false}
      value={filters.range}
      onChange={(value) => set({ range: SHAPE.range(value ?? undefined) })}
      data={Object.entries(texts.ranges).map(([value, label]) => ({ value, label }))}
    />
    <Select
      label={words.groupBy}
      w={150}
      allowDeselect={false}
      value={filters.group_by}
      onChange={(value) => set({ group_by: SHAPE.group_by(value ?? undefined) })}
      data={GROUPS.map((value) => ({ value, label: words.groups[value] }))}
    />
    <SegmentedControl
      aria-label={words.measure}
      value={filters.measure}
      onChange={(value) => set({ measure: SHAPE.measure(value) })}
      data={MEASURES.map((value) => ({ value, label: words.measures[value] }))}
      visibleFrom="md"
    />
    <Select
      label={words.measure}
      w={160}
      allowDeselect={false}
      hiddenFrom="md"
      value={filters.measure}
      onChange={(value) => set({ measure: SHAPE.measure(value ?? undefined) })}
      data={MEASURES.map((value) => ({ value, label: words.measures[value] }))}
    />
  </Group>
);

const Totals = ({ of }: { of: Usage["total"] }) => (
  <SimpleGrid cols={{ base: 2, md: 4 }}>
    <Tile title={words.measures.charge_usd}>
      <Money usd={of.charge_usd} />
    </Tile>
    <Tile title={words.measures.requests}>{formatCount(of.requests)}</Tile>
    <Tile title={words.measures.input_tokens} note={words.cached(formatCount(of.cached_tokens))}>
      {shortCount(of.input_tokens)}
    </Tile>
    <Tile title={words.measures.output_tokens}>{shortCount(of.output_tokens)}</Tile>
  </SimpleGrid>
);

function Groups({ of }: { of: Usage }) {
  const columns: Column<Usage["rows"][number]>[] = [
    {
      title: words.groups[of.group_by ?? "model"],
      always: true,
      cell: ({ label }) => <span className="name">{label}</span>,
    },
    {
      title: words.measures.requests,
      figures: true,
      order: ({ requests }) => requests,
      cell: ({ requests }) => formatCount(requests),
    },
    {
      title: words.measures.input_tokens,
      figures: true,
      order: ({ input_tokens }) => input_tokens,
      cell: ({ input_tokens }) => formatCount(input_tokens),
    },
    {
      title: words.measures.cached_tokens,
      figures: true,
      order: ({ cached_tokens }) => cached_tokens,
      cell: ({ cached_tokens }) => formatCount(cached_tokens),
    },
    {
      title: words.measures.output_tokens,
      figures: true,
      order: ({ output_tokens }) => output_tokens,
      cell: ({ output_tokens }) => formatCount(output_tokens),
    },
    {
      title: words.measures.charge_usd,
      always: true,
      figures: true,
      order: ({ charge_usd }) => heightOf(charge_usd),
      cell: ({ charge_usd }) => <ExactMoney usd={charge_usd} />,
    },
  ];
  const { total } = of;
  return (
    <DataTable
      label={words.table}
      rows={of.rows}
      rowKey={({ group }) => group ?? ""}
      columns={columns}
      foot={
        <Table.Tr fw={700}>
          <Table.Td>{words.total}</Table.Td>
          <Table.Td ta="right" className="figures wide-only">
            {formatCount(total.requests)}
          </Table.Td>
          <Table.Td ta="right" className="figures wide-only">
            {formatCount(total.input_tokens)}
          </Table.Td>
          <Table.Td ta="right" className="figures wide-only">
            {formatCount(total.cached_tokens)}
          </Table.Td>
          <Table.Td ta="right" className="figures wide-only">
            {formatCount(total.output_tokens)}
          </Table.Td>
          <Table.Td ta="right">
            <ExactMoney usd={total.charge_usd} />
          </Table.Td>
        </Table.Tr>
      }
    />
  );
}

const seriesOf = ({ rows }: Usage): string[] => {
  const names = rows.map(({ label }) => label);
  return names.length <= SERIES_AT_MOST ? names : [...names.slice(0, SERIES_AT_MOST), words.other];
};

function bucketsOf({ at, rows, series, bucket }: Usage, measure: Measure): Bucket[] {
  const heights = (index: number, bucketAt: number): number => {
    const figures = series[index]?.figures[bucketAt];
    if (figures === null || figures === undefined) return 0;
    return measure === "charge_usd" ? heightOf(figures.charge_usd) : figures[measure];
  };
  return at.map((start, bucketAt) => {
    const values: Record<string, number> = {};
    for (const [index, { label }] of rows.entries()) {
      const name = index < SERIES_AT_MOST || rows.length <= SERIES_AT_MOST ? label : words.other;
      values[name] = (values[name] ?? 0) + heights(index, bucketAt);
    }
    return { label: bucket === "day" ? formatDay(start) : formatTime(start).replace(/:00 UTC$/, ""), values };
  });
}
