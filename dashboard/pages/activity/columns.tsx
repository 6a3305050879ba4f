// The columns of the activity table.
import { Code, Stack, Text } from "@mantine/core";
import type { Row } from "../../api/routes.ts";
import type { Column } from "../../components/data-table.tsx";
import { Money, Time } from "../../components/figures.tsx";
import { Link } from "../../components/link.tsx";
import { NextStep } from "../../components/next-step.tsx";
import { StateBadge } from "../../components/state-badge.tsx";
import { formatCount } from "../../format/count.ts";
import { formatSpan } from "../../format/time.ts";
import { activityStateNames } from "../../components/texts.ts";
import { activityTexts as words } from "./texts.ts";

type ActivityRow = Row<"GET /orgs/{org}/activity">;

export const activityColumns = (org: string): Column<ActivityRow>[] => [
  {
    title: words.columns.time,
    always: true,
    cell: (row) => (
      <Link to="." search={(now: object) => ({ ...now, req: row.id })} resetScroll={false} size="sm" fw={600}>
        <Time at={row.at} />
      </Link>
    ),
  },
  {
    title: words.columns.state,
    always: true,
    cell: (row) => (
      <Stack gap={2} align="flex-start">
        <State of={row} />
        {row.code !== null && (
          <>
            <Code className="name">{row.code}</Code>
            <NextStep code={row.code} of={{ org, key: row.key.id, model: row.model }} />
          </>
        )}
      </Stack>
    ),
  },
  {
    title: words.columns.model,
    cell: (row) => (
      <Stack gap={0}>
        <span className="name">
          {row.model ?? (row.requests === 1 ? words.noModel : words.severalModels)}
        </span>
        <Text size="xs" c="dimmed" className="name">
          {row.key.name}
        </Text>
      </Stack>
    ),
  },
  {
    title: words.columns.tokens,
    figures: true,
    cell: ({ input_tokens, output_tokens }) =>
      input_tokens === null ? "–" : `${formatCount(input_tokens)} → ${formatCount(output_tokens ?? 0)}`,
  },
  {
    title: words.columns.charge,
    always: true,
    figures: true,
    cell: ({ charge_usd }) => <Money usd={charge_usd} />,
  },
  {
    title: words.columns.first,
    figures: true,
    cell: ({ first_part_ms }) => (first_part_ms === null ? "–" : formatSpan(first_part_ms)),
  },
  {
    title: words.columns.total,
    figures: true,
    cell: ({ total_ms }) => (total_ms === null ? "–" : formatSpan(total_ms)),
  },
  {
    title: words.columns.provider,
    wider: true,
    cell: ({ provider, region }) => (
      <Stack gap={0}>
        <span className="name">{provider ?? "–"}</span>
        {region !== null && (
          <Text size="xs" c="dimmed">
            {region}
          </Text>
        )}
      </Stack>
    ),
  },
  {
    title: words.columns.answer,
    wider: true,
    cell: ({ stream, finish_reason }) => (
      <Stack gap={0}>
        <span>{stream ? words.streamed : words.whole}</span>
        {finish_reason !== null && (
          <Text size="xs" c="dimmed">
            {words.finished(finish_reason)}
          </Text>
        )}
      </Stack>
    ),
  },
  {
    title: words.columns.id,
    wider: true,
    cell: ({ id }) => <Code className="name">{id}</Code>,
  },
];

function State({ of }: { of: ActivityRow }) {
  const word = activityStateNames[of.state];
  return (
    <StateBadge
      state={of.state}
      word={of.requests === 1 ? word : words.times(word, formatCount(of.requests))}
    />
  );
}
