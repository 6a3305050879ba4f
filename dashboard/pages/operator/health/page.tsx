// How this gateway is doing right now; refreshed every few seconds while the page is visible.
import { Anchor, Group, SimpleGrid, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { read } from "../../../api/read.ts";
import type { Answer } from "../../../api/routes.ts";
import { type Column, DataTable } from "../../../components/data-table.tsx";
import { Ago, Time } from "../../../components/figures.tsx";
import { Link } from "../../../components/link.tsx";
import { Page, Section } from "../../../components/page.tsx";
import { StateBadge } from "../../../components/state-badge.tsx";
import { Loaded } from "../../../components/states.tsx";
import { Tile } from "../../../components/tile.tsx";
import { formatCount } from "../../../format/count.ts";
import { formatSpan, relativeTime } from "../../../format/time.ts";
import { path } from "../../../path-builder.ts";
import { operatorHealthTexts as words } from "./texts.ts";
import { operatorPageNames } from "../../../components/texts.ts";
import { SupportBundle } from "./support-bundle.tsx";

type Health = Answer<"GET /operator/health">;

const MEGABYTE = 1024 * 1024;

export function HealthPage() {
  const health = useQuery({ ...read("GET /operator/health", {}), refetchInterval: 5_000 });
  return (
    <Page title={operatorPageNames.health} lead={words.lead} actions={<SupportBundle />}>
      <Loaded query={health}>{(now) => <Figures now={now} />}</Loaded>
      <Group gap="xl">
        <OtherPage to="/metrics" title={words.metrics} readers={words.metricsFor} />
        <OtherPage to="/readyz" title={words.readiness} readers={words.readinessFor} />
      </Group>
    </Page>
  );
}

const OtherPage = ({ to, title, readers }: { to: string; title: string; readers: string }) => (
  <Stack gap={0}>
    <Anchor href={to} target="_blank" rel="noreferrer" size="sm">
      {title}
    </Anchor>
    <Text size="xs" c="dimmed">
      {readers}
    </Text>
  </Stack>
);

const Figures = ({ now }: { now: Health }) => (
  <>
    <SimpleGrid cols={{ base: 2, md: 4 }} spacing={{ base: "xs", sm: "md" }}>
      <Tile title={words.ready}>
        <StateBadge state={now.ready ? "ok" : "broken"} word={now.ready ? words.yes : words.no} />
      </Tile>
      <Tile title={words.version} note={words.stores[now.store]}>
        {now.version}
      </Tile>
      <Tile
        title={words.uptime}
        note={now.configuration?.file_changed === true ? words.olderConfiguration : undefined}
      >
        {formatSpan(Date.parse(now.now) - Date.parse(now.started_at))}
      </Tile>
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
      <Commits of={now.commits} />
      <Tile title={words.sweep} note={words.sweepNote}>
        <Ago at={now.last_sweep_at} never="–" />
      </Tile>
      {now.backup !== null && <Backup of={now.backup} />}
      {now.clock_offset_ms !== null && (
        <Tile title={words.clock} note={words.clockNote}>
          {`${now.clock_offset_ms > 0 ? "+" : ""}${formatCount(now.clock_offset_ms)} ms`}
        </Tile>
      )}
      <Tile title={words.quarantined} note={words.quarantinedNote}>
        {now.quarantined === 0 ? (
          formatCount(0)
        ) : (
          <Link to={path.operator("ledger")}>
            <StateBadge state="warning" word={formatCount(now.quarantined)} />
          </Link>
        )}
      </Tile>
      <Tile title={words.stopped} note={words.stoppedNote}>
        {now.stopped === 0 ? (
          formatCount(0)
        ) : (
          <Link to={path.operator("ledger")}>
            <StateBadge state="warning" word={formatCount(now.stopped)} />
          </Link>
        )}
      </Tile>
      <Tile title={words.jobs} note={<Jobs of={now.failed_jobs} />}>
        {formatCount(now.failed_jobs.reduce((sum, { failures }) => sum + failures, 0))}
      </Tile>
      <Tile title={words.overload} note={words.overloadNote}>
        {formatCount(now.overload_refusals)}
      </Tile>
      <Tile title={words.schema}>{now.schema_version}</Tile>
    </SimpleGrid>
    {now.gateways.length > 0 && <Gateways of={now.gateways} />}
    {now.refusals_forgotten > 0 && (
      <Text size="sm" c="dimmed">
        {words.forgotten(formatCount(now.refusals_forgotten))}
      </Text>
    )}
  </>
);

const Jobs = ({ of }: { of: Health["failed_jobs"] }) =>
  of.length === 0
    ? words.jobsNote
    : of.map(({ job, failures }) => `${job} ${formatCount(failures)}`).join(", ");

const Backup = ({ of: { last_at, bytes, overdue } }: { of: NonNullable<Health["backup"]> }) => (
  <Tile
    title={words.backup}
    note={
      <>
        {bytes === null ? words.noBackup : words.backupSize(formatCount(Math.ceil(bytes / MEGABYTE)))}
        {overdue && bytes !== null && ` · ${words.backupOld}`}
      </>
    }
  >
    {overdue ? (
      <StateBadge state="warning" word={last_at === null ? words.never : relativeTime(last_at)} />
    ) : (
      <Ago at={last_at} />
    )}
  </Tile>
);

const Commits = ({ of }: { of: Health["commits"] }) => (
  <>
    <Tile
      title={words.queue}
      note={
        of.operations_mean === null
          ? words.noCommit
          : words.batch(of.operations_mean.toFixed(1), formatCount(of.operations_most ?? 0))
      }
    >
      {formatCount(of.waiting)}
    </Tile>
    <Tile
      title={words.commit}
      note={of.ms_p99 === null ? words.noCommit : words.commitNote(printMs(of.ms_p99), formatCount(of.of))}
    >
      {of.ms_p50 === null ? "–" : printMs(of.ms_p50)}
    </Tile>
  </>
);

/** Commits can take less than a millisecond. */
const printMs = (ms: number): string => `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;

const Gateways = ({ of }: { of: Health["gateways"] }) => (
  <Section title={words.gateways}>
    <Text size="sm" c="dimmed">
      {words.gatewaysLead}
    </Text>
    <DataTable label={words.gateways} rows={of} rowKey={({ name }) => name} columns={GATEWAYS} />
  </Section>
);

const GATEWAYS: Column<Health["gateways"][number]>[] = [
  { title: words.columns.name, always: true, cell: ({ name }) => <span className="name">{name}</span> },
  { title: words.columns.started, cell: ({ started_at }) => <Time at={started_at} /> },
  {
    title: words.columns.lease,
    always: true,
    cell: ({ valid }) => (
      <StateBadge state={valid ? "ok" : "broken"} word={valid ? words.lease.valid : words.lease.over} />
    ),
  },
];

const Oldest = ({ at }: { at: string }) => (
  <>
    {words.oldest} <Ago at={at} />
  </>
);
