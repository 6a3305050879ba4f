// The alerts that were sent, newest first, and their delivery state.
import { Box, Stack, Text } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { moreOf, readPages } from "../../api/read.ts";
import type { Row } from "../../api/routes.ts";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { Ago, Time } from "../../components/figures.tsx";
import { StateBadge } from "../../components/state-badge.tsx";
import { Loaded } from "../../components/states.tsx";
import { readableTimes } from "../../format/time.ts";
import { alertsTexts as words } from "./texts.ts";
import type { Names } from "./condition.ts";

type AlertDelivery = Row<"GET /orgs/{org}/alerts/deliveries">;

export function Deliveries({ org, channels }: { org: string; channels: Names }) {
  const deliveries = useInfiniteQuery({
    ...readPages("GET /orgs/{org}/alerts/deliveries", { org }),
    refetchInterval: 10_000,
  });
  return (
    <Loaded query={deliveries}>
      {(rows) => (
        <DataTable
          label={words.deliveries}
          rows={rows}
          rowKey={({ id }) => id}
          columns={deliveryColumns(channels)}
          none={words.noDeliveries}
          more={moreOf(deliveries)}
        />
      )}
    </Loaded>
  );
}

const deliveryColumns = (channels: Names): Column<AlertDelivery>[] => [
  {
    title: words.columns.at,
    always: true,
    cell: ({ at, state }) => (
      <Stack gap={4} align="flex-start">
        <Time at={at} />
        <Box hiddenFrom="sm">
          <StateBadge state={state} />
        </Box>
      </Stack>
    ),
  },
  {
    title: words.columns.text,
    always: true,
    cell: ({ text }) => <span className="name sentence">{readableTimes(text)}</span>,
  },
  {
    title: words.columns.channel,
    wider: true,
    cell: ({ channel }) => <span className="name">{channels.get(channel) ?? channel}</span>,
  },
  {
    title: words.columns.state,
    saidFirst: true,
    cell: ({ state, tries, status, reason, next_try_at }) => (
      <Stack gap={2} align="flex-start">
        <StateBadge state={state} />
        {reason !== null && (
          <Text size="xs" className="name">
            {reason}
          </Text>
        )}
        <Text size="xs" c="dimmed">
          {tries > 0 && words.tries(tries)}
          {status !== null && reason === null && ` · ${status}`}
          {state === "waiting" && next_try_at !== null && (
            <>
              {` · ${words.nextTry} `}
              <Ago at={next_try_at} />
            </>
          )}
        </Text>
      </Stack>
    ),
  },
];
