// Organizations whose books do not add up: their paid calls are refused until they do, or an operator has decided.
import { Button, Stack, Text } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useChange } from "../../../api/change.ts";
import { moreOf, readPages } from "../../../api/read.ts";
import type { Row } from "../../../api/routes.ts";
import { Caution } from "../../../components/caution.tsx";
import { type Column, DataTable } from "../../../components/data-table.tsx";
import { ConfirmDialog } from "../../../components/dialogs.tsx";
import { Time } from "../../../components/figures.tsx";
import { Link } from "../../../components/link.tsx";
import { nameAmong, OrganizationName, useNamesakes } from "../../../components/organization-name.tsx";
import { Section } from "../../../components/page.tsx";
import { Failure } from "../../../components/states.tsx";
import type { Namesakes } from "../../../format/namesakes.ts";
import { path } from "../../../path-builder.ts";
import { operatorLedgerTexts } from "./texts.ts";

type Stopped = Row<"GET /operator/stopped">;

const words = operatorLedgerTexts.stopped;

/** Without a name, as for an organization that is lost, its id. */
const whose = (namesakes: Namesakes, { org, org_name }: Stopped): string =>
  org_name === null ? org : nameAmong(namesakes, { id: org, name: org_name });

/** Nothing where there is none. */
export function StoppedOrganizations() {
  const stopped = useInfiniteQuery({ ...readPages("GET /operator/stopped", {}), refetchInterval: 5_000 });
  const [of, setOf] = useState<Stopped | null>(null);
  const namesakes = useNamesakes();
  if (stopped.error !== null) return <Failure error={stopped.error} />;
  const rows = stopped.data ?? [];
  return (
    <>
      {rows.length > 0 && (
        <Section title={words.title}>
          <Caution>
            <Text size="sm">{words.help}</Text>
          </Caution>
          <DataTable
            label={words.title}
            rows={rows}
            rowKey={({ org }) => org}
            columns={columns(namesakes, setOf)}
            more={moreOf(stopped)}
          />
        </Section>
      )}
      {of !== null && <ResumeDialog of={of} onClose={() => setOf(null)} />}
    </>
  );
}

const Broken = ({ violations }: Pick<Stopped, "violations">) => (
  <Stack gap={0}>
    {violations.map(({ invariant, expected, found }) => (
      <Text key={`${invariant} ${found}`} size="xs" className="name">
        {words.broken(invariant, expected, found)}
      </Text>
    ))}
  </Stack>
);

const columns = (namesakes: Namesakes, resume: (of: Stopped) => void): Column<Stopped>[] => [
  {
    title: words.columns.org,
    always: true,
    cell: ({ org, org_name, violations }) => (
      <Stack gap={0}>
        <Link to={path.organization(org)} size="sm" className="name">
          <OrganizationName id={org} name={org_name} />
        </Link>
        <Stack hiddenFrom="sm">
          <Broken violations={violations} />
        </Stack>
      </Stack>
    ),
  },
  { title: words.columns.since, cell: ({ since }) => <Time at={since} /> },
  {
    title: words.columns.broken,
    saidFirst: true,
    cell: ({ violations }) => <Broken violations={violations} />,
  },
  {
    title: words.columns.act,
    always: true,
    cell: (row) => (
      <Button
        variant="default"
        size="compact-sm"
        onClick={() => resume(row)}
        aria-label={words.resumeOf(whose(namesakes, row))}
      >
        {words.resume}
      </Button>
    ),
  },
];

function ResumeDialog({ of, onClose }: { of: Stopped; onClose: () => void }) {
  const resume = useChange("POST /operator/stopped/{org}/resume", { org: of.org }, onClose);
  return (
    <ConfirmDialog
      calm
      title={words.resumeOf(whose(useNamesakes(), of))}
      action={words.resume}
      mutation={resume}
      onClose={onClose}
      reason={{ label: words.reason, maxLength: 500, needed: true }}
      onConfirm={(reason) => resume.mutate({ reason })}
    >
      <Text size="sm">{words.resumeHelp}</Text>
      <Broken violations={of.violations} />
    </ConfirmDialog>
  );
}
