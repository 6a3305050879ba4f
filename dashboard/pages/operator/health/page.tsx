// How this gateway is doing right now; asked again every few seconds while somebody looks.
import { Anchor, Group, SimpleGrid, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type Health, healthQuery } from "../../../api/house.ts";
import { Ago } from "../../../components/figures.tsx";
import { Page } from "../../../components/page.tsx";
import { StateBadge } from "../../../components/state-badge.tsx";
import { Loaded } from "../../../components/states.tsx";
import { Tile } from "../../../components/tile.tsx";
import { formatCount } from "../../../format/count.ts";
import { formatSpan } from "../../../format/time.ts";
import { texts } from "../../../texts.ts";
import { SupportBundle } from "./support-bundle.tsx";

const words = texts.operatorHealth;
const MEGABYTE = 1024 * 1024;

export function HealthPage() {
  const health = useQuery(healthQuery);
  return (
    <Page title={texts.operatorPages.health} lead={words.lead} actions={<SupportBundle />}>
      <Loaded query={health}>{(now) => <Figures now={now} />}</Loaded>
      <Group gap="md">
        <Anchor href="/metrics" target="_blank" rel="noreferrer" size="sm">
          {words.metrics}
        </Anchor>
        <Anchor href="/readyz" target="_blank" rel="noreferrer" size="sm">
          {words.readiness}
        </Anchor>
      </Group>
    </Page>
  );
}

const Figures = ({ now }: { now: Health }) => (
  <>
    <SimpleGrid cols={{ base: 2, md: 4 }} spacing={{ base: "xs", sm: "md" }}>
      <Tile title={words.ready}>
        <StateBadge state={now.ready ? "ok" : "broken"} word={now.ready ? words.yes : words.no} />
      </Tile>
      <Tile title={words.version} note={words.stores[now.store]}>
        {now.version}
      </Tile>
      <Tile title={words.uptime}>{formatSpan(Date.parse(now.now) - Date.parse(now.started_at))}</Tile>
      <Tile title={words.memory}>{`${formatCount(Math.round(now.memory_bytes / MEGABYTE))} MB`}</Tile>
      <Tile title={words.running} note={words.streams(formatCount(now.streams_open))}>
        {formatCount(now.running)}
      </Tile>
      <Tile
        title={words.holds}
        note={now.oldest_hold_at === null ? words.noHold : <Oldest at={now.oldest_hold_at} />}
      >
        {formatCount(now.holds_open)}
      </Tile>
      <Tile title={words.unknown} note={words.unknownNote}>
        {formatCount(now.outcomes_unknown)}
      </Tile>
      <Tile title={words.loop}>
        {now.event_loop_delay_ms === null ? "–" : formatSpan(now.event_loop_delay_ms)}
      </Tile>
    </SimpleGrid>
    {now.refusals_forgotten > 0 && (
      <Text size="sm" c="dimmed">
        {words.forgotten(formatCount(now.refusals_forgotten))}
      </Text>
    )}
  </>
);

const Oldest = ({ at }: { at: string }) => (
  <>
    {words.oldest} <Ago at={at} />
  </>
);
