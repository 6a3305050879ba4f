// One row per group with every measure; the last row is the ledger's own total.
import type { Answer } from "../../api/routes.ts";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { ExactMoney } from "../../components/figures.tsx";
import { Link } from "../../components/link.tsx";
import { formatCount } from "../../format/count.ts";
import { heightOf } from "../../format/money.ts";
import { usageTexts as words } from "./texts.ts";
import { distinctLabels, MEASURES } from "./buckets.ts";

type Usage = Answer<"GET /orgs/{org}/usage">;
type UsageRow = Usage["rows"][number];

interface GroupsProps {
  of: Usage;
  /** The filter for a group's requests; null if no filter selects just them. */
  requestsOf: (row: UsageRow) => Record<string, string> | null;
  activity: string;
}

export const Groups = ({ of, ...links }: GroupsProps) => (
  <DataTable
    label={words.table}
    rows={rowsOf(of)}
    rowKey={({ group, second, one }) => JSON.stringify([group, second, one])}
    columns={columnsOf(of, links)}
  />
);

interface GroupRow extends UsageRow {
  /** A group, not the sum of all others. */
  one: boolean;
}

function rowsOf({ rows, others }: Usage): GroupRow[] {
  const labels = distinctLabels(rows);
  const groups = rows.map((row, at) => ({ ...row, label: labels[at] ?? row.label, one: true }));
  if (others === null) return groups;
  const label = words.others(formatCount(others.groups));
  return [...groups, { ...others, group: null, second: null, label, one: false }];
}

const columnsOf = (of: Usage, links: Omit<GroupsProps, "of">): Column<GroupRow>[] => [
  {
    title: [of.group_by ?? "model", of.then_by]
      .flatMap((group) => (group === null ? [] : words.groups[group]))
      .join(" · "),
    always: true,
    total: words.total,
    cell: (row) => <GroupName of={row} {...links} />,
  },
  ...MEASURES.filter((measure) => measure !== "charge_usd").map((measure) => ({
    title: words.measures[measure],
    figures: true,
    order: (row: GroupRow) => row[measure],
    cell: (row: GroupRow) => formatCount(row[measure]),
    total: formatCount(of.total[measure]),
  })),
  {
    title: words.measures.charge_usd,
    always: true,
    figures: true,
    order: ({ charge_usd }) => heightOf(charge_usd),
    cell: ({ charge_usd }) => <ExactMoney usd={charge_usd} />,
    total: <ExactMoney usd={of.total.charge_usd} />,
  },
];

function GroupName({ of, requestsOf, activity }: Omit<GroupsProps, "of"> & { of: GroupRow }) {
  const search = of.one ? requestsOf(of) : null;
  return search === null ? (
    <span className="name">{of.label}</span>
  ) : (
    <Link to={activity} search={search} size="sm" className="name">
      {of.label}
    </Link>
  );
}
