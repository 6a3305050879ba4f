// One row per group with every measure; the last row is the ledger's own total.
import type { Answer } from "../../api/routes.ts";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { ExactMoney } from "../../components/figures.tsx";
import { Link } from "../../components/link.tsx";
import { formatCount } from "../../format/count.ts";
import { heightOf } from "../../format/money.ts";
import { usageTexts as words } from "./texts.ts";
import { distinctLabels } from "./buckets.ts";

type Usage = Answer<"GET /orgs/{org}/usage">;

interface GroupsProps {
  of: Usage;
  /** Where the requests of a group are; null where no filter shows just them. */
  requestsOf: (row: Usage["rows"][number]) => Record<string, string> | null;
  activity: string;
}

export function Groups({ of, requestsOf, activity }: GroupsProps) {
  const labels = distinctLabels(of.rows);
  const { others, total } = of;
  const rows = [
    ...of.rows.map((row, at) => ({ ...row, label: labels[at] ?? row.label, one: true })),
    ...(others === null
      ? []
      : [
          {
            ...others,
            group: null,
            second: null,
            label: words.others(formatCount(others.groups)),
            one: false,
          },
        ]),
  ];
  const columns: Column<(typeof rows)[number]>[] = [
    {
      title: [of.group_by ?? "model", of.then_by]
        .flatMap((group) => (group === null ? [] : words.groups[group]))
        .join(" · "),
      always: true,
      total: words.total,
      cell: (row) => {
        const search = row.one ? requestsOf(row) : null;
        return search === null ? (
          <span className="name">{row.label}</span>
        ) : (
          <Link to={activity} search={search} size="sm" className="name">
            {row.label}
          </Link>
        );
      },
    },
    {
      title: words.measures.requests,
      figures: true,
      order: ({ requests }) => requests,
      cell: ({ requests }) => formatCount(requests),
      total: formatCount(total.requests),
    },
    {
      title: words.measures.input_tokens,
      figures: true,
      order: ({ input_tokens }) => input_tokens,
      cell: ({ input_tokens }) => formatCount(input_tokens),
      total: formatCount(total.input_tokens),
    },
    {
      title: words.measures.cached_tokens,
      figures: true,
      order: ({ cached_tokens }) => cached_tokens,
      cell: ({ cached_tokens }) => formatCount(cached_tokens),
      total: formatCount(total.cached_tokens),
    },
    {
      title: words.measures.cache_write_tokens,
      figures: true,
      order: ({ cache_write_tokens }) => cache_write_tokens,
      cell: ({ cache_write_tokens }) => formatCount(cache_write_tokens),
      total: formatCount(total.cache_write_tokens),
    },
    {
      title: words.measures.output_tokens,
      figures: true,
      order: ({ output_tokens }) => output_tokens,
      cell: ({ output_tokens }) => formatCount(output_tokens),
      total: formatCount(total.output_tokens),
    },
    {
      title: words.measures.charge_usd,
      always: true,
      figures: true,
      order: ({ charge_usd }) => heightOf(charge_usd),
      cell: ({ charge_usd }) => <ExactMoney usd={charge_usd} />,
      total: <ExactMoney usd={total.charge_usd} />,
    },
  ];
  return (
    <DataTable
      label={words.table}
      rows={rows}
      rowKey={({ group, second, one }) => JSON.stringify([group, second, one])}
      columns={columns}
    />
  );
}
