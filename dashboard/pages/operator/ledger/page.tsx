// Every invariant of the ledger, checked on demand in one snapshot while traffic runs; the same as `ledger audit`.
import { Alert, Button, Group, Loader, SimpleGrid, Text } from "@mantine/core";
import { type LedgerReport, useLedgerAudit } from "../../../api/house.ts";
import { type Column, DataTable } from "../../../components/data-table.tsx";
import { ExactMoney, Time } from "../../../components/figures.tsx";
import { Icon } from "../../../components/icon.tsx";
import { Page, Section } from "../../../components/page.tsx";
import { StateBadge } from "../../../components/state-badge.tsx";
import { Empty, Failure } from "../../../components/states.tsx";
import { Tile } from "../../../components/tile.tsx";
import { formatCount } from "../../../format/count.ts";
import { formatSpan } from "../../../format/time.ts";
import { texts } from "../../../texts.ts";

const words = texts.operatorLedger;

export function LedgerPage() {
  const audit = useLedgerAudit();
  const run = (
    <Button
      leftSection={<Icon name="ledger" size={16} />}
      loading={audit.isPending}
      onClick={() => audit.mutate()}
    >
      {audit.data === undefined ? words.run : words.again}
    </Button>
  );
  return (
    <Page title={texts.operatorPages.ledger} lead={words.lead} actions={run}>
      {audit.isPending && (
        <Group gap="sm" role="status">
          <Loader size="sm" />
          <Text size="sm">{words.running}</Text>
        </Group>
      )}
      {audit.error !== null && <Failure error={audit.error} retry={() => audit.mutate()} />}
      {audit.data !== undefined && <Report report={audit.data} />}
      {audit.isIdle && <Empty icon="ledger">{words.notRun}</Empty>}
    </Page>
  );
}

const Report = ({ report }: { report: LedgerReport }) => (
  <>
    <Alert
      color={report.ok ? "green" : "red"}
      variant="light"
      icon={<Icon name={report.ok ? "check" : "warning"} />}
      styles={{ icon: { color: "var(--mantine-color-text)" } }}
      role="status"
    >
      <Text size="sm">
        {report.ok ? words.ok : words.broken(report.violations.length)} <Time at={report.started_at} /> ·{" "}
        {formatSpan(report.ms)}
      </Text>
    </Alert>
    <SimpleGrid cols={{ base: 2, md: 4 }} spacing={{ base: "xs", sm: "md" }}>
      <Tile title={words.drift} note={words.driftNote}>
        <ExactMoney usd={report.drift_usd} />
      </Tile>
      <Tile title={words.variance} note={words.varianceNote}>
        <ExactMoney usd={report.variance_usd} />
      </Tile>
      <Tile title={words.debt}>
        <ExactMoney usd={report.debt_usd} />
      </Tile>
      <Tile title={words.late}>{formatCount(report.holds_past_deadline)}</Tile>
    </SimpleGrid>
    {report.violations.length > 0 && (
      <Section title={words.violations}>
        <DataTable
          label={words.violations}
          rows={report.violations}
          rowKey={({ invariant, org, request_id, found }) => `${invariant} ${org} ${request_id} ${found}`}
          columns={VIOLATIONS}
        />
      </Section>
    )}
    <Section title={words.invariants}>
      <DataTable
        label={words.invariants}
        rows={Object.entries(report.checked)}
        rowKey={([invariant]) => invariant}
        columns={invariantColumns(new Set(report.violations.map(({ invariant }) => invariant)))}
      />
    </Section>
  </>
);

const invariantColumns = (broken: ReadonlySet<string>): Column<[string, number]>[] => [
  { title: words.columns.invariant, always: true, cell: ([invariant]) => invariant },
  {
    title: words.columns.result,
    always: true,
    cell: ([invariant]) => <StateBadge state={broken.has(invariant) ? "broken" : "ok"} />,
  },
  {
    title: words.columns.rows,
    figures: true,
    order: ([, rows]) => rows,
    cell: ([, rows]) => formatCount(rows),
  },
];

const VIOLATIONS: Column<LedgerReport["violations"][number]>[] = [
  { title: words.columns.invariant, always: true, cell: ({ invariant }) => invariant },
  { title: words.columns.org, cell: ({ org }) => org ?? "–" },
  {
    title: words.columns.request,
    cell: ({ request_id }) => <span className="name">{request_id ?? "–"}</span>,
  },
  { title: words.columns.expected, figures: true, cell: ({ expected }) => expected },
  { title: words.columns.found, always: true, figures: true, cell: ({ found }) => found },
];
