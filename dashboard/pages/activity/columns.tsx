// The columns of the activity table: one line per row, so that many rows are visible; the rest is in the drawer.
import { Code, Group, Text } from "@mantine/core";
import type { Row } from "../../api/routes.ts";
import { type Column, WhereFolded } from "../../components/data-table.tsx";
import { Money, Time } from "../../components/figures.tsx";
import { QuietLink } from "../../components/link.tsx";
import { StateBadge } from "../../components/state-badge.tsx";
import { formatCount } from "../../format/count.ts";
import { formatSpan } from "../../format/time.ts";
import { activityStateNames } from "../../components/texts.ts";
import { activityTexts as words } from "./texts.ts";

type ActivityRow = Row<"GET /orgs/{org}/activity">;
type Cell = Omit<Column<ActivityRow>, "title">;

/** The columns that may be hidden. */
const COLUMNS = {
  model: {
    cell: (row) => (
      <span className="name" title={row.model ?? undefined}>
        {row.model ?? (row.requests === 1 ? words.noModel : words.severalModels)}
      </span>
    ),
  },
  key: {
    cell: ({ key }) => (
      <span className="name" title={key.name}>
        {key.name}
      </span>
    ),
  },
  tokens: {
    figures: true,
    cell: ({ input_tokens, output_tokens }) =>
      input_tokens === null ? "–" : `${formatCount(input_tokens)} → ${formatCount(output_tokens ?? 0)}`,
  },
  first: {
    figures: true,
    cell: ({ first_part_ms }) => (first_part_ms === null ? "–" : formatSpan(first_part_ms)),
  },
  total: {
    figures: true,
    cell: ({ total_ms }) => (total_ms === null ? "–" : formatSpan(total_ms)),
  },
  provider: {
    cell: ({ provider, region }) => (
      <span className="name">{provider === null ? "–" : [provider, region].filter(Boolean).join(" ")}</span>
    ),
  },
  streamed: { wider: true, cell: ({ stream }) => (stream ? words.streamed : words.whole) },
  finish: { wider: true, cell: ({ finish_reason }) => finish_reason ?? "–" },
  id: { wider: true, cell: ({ id }) => <Code className="name">{id}</Code> },
} as const satisfies Record<string, Cell>;

export type ColumnId = keyof typeof COLUMNS;
export const COLUMN_IDS = Object.keys(COLUMNS) as ColumnId[];
/** True for columns shown by default whenever there is room. */
export const isUsual = (id: ColumnId): boolean => !("wider" in COLUMNS[id]);

interface Shown {
  chosen: Partial<Record<ColumnId, boolean>>;
  /** The address of a row's drawer, for opening it in a new tab. */
  addressOf: (id: string) => string;
  open: (id: string) => void;
}

export function activityColumns({ chosen, addressOf, open }: Shown): Column<ActivityRow>[] {
  const chosenOf = (id: ColumnId): Column<ActivityRow>[] => {
    if (chosen[id] === false) return [];
    const asked = chosen[id] === true && { wider: false, always: true };
    return [{ title: words.columns[id], ...(COLUMNS[id] as Cell), ...asked }];
  };
  return [
    {
      title: words.columns.time,
      always: true,
      cell: (row) => (
        <QuietLink href={addressOf(row.id)} open={() => open(row.id)}>
          <Time at={row.at} />
        </QuietLink>
      ),
    },
    { title: words.columns.state, always: true, cell: (row) => <State of={row} /> },
    ...chosenOf("model"),
    ...chosenOf("key"),
    ...chosenOf("tokens"),
    {
      title: words.columns.charge,
      always: true,
      figures: true,
      cell: ({ charge_usd }) => <Money usd={charge_usd} />,
    },
    ...(["first", "total", "provider", "streamed", "finish", "id"] as const).flatMap(chosenOf),
  ];
}

function State({ of }: { of: ActivityRow }) {
  const word = activityStateNames[of.state];
  return (
    <>
      <Group gap={6} wrap="nowrap">
        <StateBadge
          state={of.state}
          word={of.requests === 1 ? word : words.times(word, formatCount(of.requests))}
        />
        {of.code !== null && (
          <Code className="name wide-only" title={of.code}>
            {of.code}
          </Code>
        )}
      </Group>
      {of.model !== null && (
        <WhereFolded title={words.columns.model}>
          <Text size="xs" c="dimmed" truncate maw="8rem" title={of.model}>
            {of.model}
          </Text>
        </WhereFolded>
      )}
    </>
  );
}
