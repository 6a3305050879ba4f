// Every invariant of the ledger, checked on demand in one snapshot while traffic runs; the same as `ledger audit`.
import { Alert, Button, Group, Loader, SimpleGrid, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { PAGE_ROWS } from "../../../../src/domain/page-rows.ts";
import { useAsk } from "../../../api/read.ts";
import type { Answer } from "../../../api/routes.ts";
import { type Column, DataTable } from "../../../components/data-table.tsx";
import { ExactMoney, Money, Time } from "../../../components/figures.tsx";
import { Icon } from "../../../components/icon.tsx";
import { Link } from "../../../components/link.tsx";
import { Page, Section } from "../../../components/page.tsx";
import { download } from "../../../components/secret-dialog.tsx";
import { StateBadge } from "../../../components/state-badge.tsx";
import { Empty, Failure } from "../../../components/states.tsx";
import { Tile } from "../../../components/tile.tsx";
import { formatCount } from "../../../format/count.ts";
import { formatSpan } from "../../../format/time.ts";
import { path } from "../../../path-builder.ts";
import { operatorLedgerTexts as words } from "./texts.ts";
import { operatorPageNames } from "../../../components/texts.ts";
import { Quarantine } from "./quarantine.tsx";
import { reportCsv } from "./report-csv.ts";
import { OrganizationName } from "../../../components/organization-name.tsx";
import { StoppedOrganizations } from "./stopped.tsx";

type LedgerReport = Answer<"POST /operator/ledger/audit">;

export function LedgerPage() {
  const audit = useAsk("POST /operator/ledger/audit", {});
  const run = (
    <Button
      leftSection={<Icon name="ledger" size={16} />}
      loading={audit.isPending}
      onClick={() => audit.mutate({})}
    >
      {audit.data === undefined ? words.run : words.again}
    </Button>
  );
  return (
    <Page
      title={operatorPageNames.ledger}
      lead={words.lead}
      actions={
        <>
          {audit.data !== undefined && <Csv report={audit.data} />}
          {run}
        </>
      }
    >
      <StoppedOrganizations />
      <Quarantine />
      {audit.isPending && (
        <Group gap="sm" role="status">
          <Loader size="sm" />
          <Text size="sm">{words.running}</Text>
        </Group>
      )}
      {audit.error !== null && <Failure error={audit.error} retry={() => audit.mutate({})} />}
      {audit.data !== undefined && <Report report={audit.data} />}
      {audit.isIdle && <Empty icon="ledger">{words.notRun}</Empty>}
    </Page>
  );
}

const Csv = ({ report }: { report: LedgerReport }) => (
  <Button
    variant="default"
    onClick={() =>
      download(reportCsv(report), { name: `ledger-audit-${report.started_at}.csv`, type: "text/csv" })
    }
  >
    {words.csv}
  </Button>
);

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
        <Money usd={report.variance_usd} />
      </Tile>
      <Tile title={words.debt}>
        <ExactMoney usd={report.debt_usd} />
      </Tile>
      <Tile title={words.late}>{formatCount(report.holds_past_deadline)}</Tile>
    </SimpleGrid>
    {report.violations.length > 0 && (
      <Section title={words.violations}>
        <Violations label={words.violations} rows={report.violations} />
      </Section>
    )}
    {report.accepted.length > 0 && (
      <Section title={words.accepted}>
        <Text size="sm" c="dimmed">
          {words.acceptedHelp}
        </Text>
        <Violations label={words.accepted} rows={report.accepted} />
      </Section>
    )}
    {report.late_holds.length > 0 && (
      <Section title={words.lateHolds}>
        <Text size="sm" c="dimmed">
          {words.lateHelp}
        </Text>
        <DataTable
          label={words.lateHolds}
          rows={report.late_holds}
          rowKey={({ request }) => request}
          columns={LATE}
        />
      </Section>
    )}
    <Section title={words.invariants}>
      <DataTable
        label={words.invariants}
        rows={invariantsOf(report)}
        rowKey={({ invariant }) => invariant}
        columns={INVARIANTS}
      />
    </Section>
  </>
);

/** The report has them all; a damaged store may break thousands of rules, which nobody reads at once. */
function Violations({ label, rows }: { label: string; rows: LedgerReport["violations"] }) {
  const [shown, setShown] = useState(PAGE_ROWS);
  const load = (): void => setShown((now) => now + PAGE_ROWS);
  return (
    <DataTable
      label={label}
      rows={rows.slice(0, shown)}
      rowKey={({ invariant, org, request_id, found }) => `${invariant} ${org} ${request_id} ${found}`}
      columns={VIOLATIONS}
      more={rows.length > shown ? { load, loading: false } : undefined}
    />
  );
}

interface Invariant {
  invariant: string;
  holds: boolean;
  rows: number;
  ms: number;
}

function invariantsOf({ checked, took_ms, violations }: LedgerReport): Invariant[] {
  const broken = new Set(violations.map(({ invariant }) => invariant));
  return Object.entries(checked).map(([invariant, rows]) => ({
    invariant,
    holds: !broken.has(invariant),
    rows,
    ms: took_ms[invariant] ?? 0,
  }));
}

const INVARIANTS: Column<Invariant>[] = [
  { title: words.columns.invariant, always: true, cell: ({ invariant }) => invariant },
  {
    title: words.columns.result,
    always: true,
    cell: ({ holds }) => <StateBadge state={holds ? "ok" : "broken"} />,
  },
  {
    title: words.columns.rows,
    figures: true,
    order: ({ rows }) => rows,
    cell: ({ rows }) => formatCount(rows),
  },
  {
    title: words.columns.took,
    figures: true,
    order: ({ ms }) => ms,
    cell: ({ ms }) => formatSpan(ms),
  },
];

/** Links to its pages and its statement, to investigate what is wrong. */
const Organization = ({ id, name }: { id: string; name: string | null }) => (
  <Stack gap={6} align="flex-start">
    <Link to={path.organization(id)} size="sm" className="name clamped">
      <OrganizationName id={id} name={name} />
    </Link>
    <Link to={path.organization(id, "billing")} size="xs">
      {words.statement}
    </Link>
  </Stack>
);

const Request = ({ org, id }: { org: string | null; id: string | null }) =>
  org === null || id === null || !id.startsWith("req_") ? (
    <span className="name">{id ?? "–"}</span>
  ) : (
    <Link to={path.organization(org, "activity")} search={{ req: id }} size="sm" className="name">
      {id}
    </Link>
  );

const VIOLATIONS: Column<LedgerReport["violations"][number]>[] = [
  { title: words.columns.invariant, always: true, cell: ({ invariant }) => invariant },
  {
    title: words.columns.org,
    always: true,
    cell: ({ org, org_name }) => (org === null ? "–" : <Organization id={org} name={org_name} />),
  },
  { title: words.columns.request, cell: ({ org, request_id }) => <Request org={org} id={request_id} /> },
  { title: words.columns.expected, figures: true, cell: ({ expected }) => expected },
  { title: words.columns.found, always: true, figures: true, cell: ({ found }) => found },
];

const LATE: Column<LedgerReport["late_holds"][number]>[] = [
  {
    title: words.columns.org,
    always: true,
    cell: ({ org, org_name }) => <Organization id={org} name={org_name} />,
  },
  { title: words.columns.request, cell: ({ org, request }) => <Request org={org} id={request} /> },
  { title: words.columns.admitted, cell: ({ admitted_at }) => <Time at={admitted_at} /> },
  { title: words.columns.deadline, cell: ({ deadline_at }) => <Time at={deadline_at} /> },
  {
    title: words.columns.held,
    always: true,
    figures: true,
    cell: ({ held_usd }) => <ExactMoney usd={held_usd} />,
  },
];
