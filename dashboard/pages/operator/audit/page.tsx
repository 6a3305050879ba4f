// Who changed what, in all organizations and on the platform; the log only grows.
import { Code, Group, Stack, Text, TextInput } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { withQuery } from "../../../api/client.ts";
import { fetchOperatorAudit, type OperatorAuditRow } from "../../../api/house.ts";
import { api } from "../../../api/paths.ts";
import { type Column, DataTable } from "../../../components/data-table.tsx";
import { Time } from "../../../components/figures.tsx";
import { ButtonLink } from "../../../components/link.tsx";
import { Page } from "../../../components/page.tsx";
import { Failure, Loading } from "../../../components/states.tsx";
import { formatChange } from "../../../format/change.ts";
import { text, useFilters } from "../../../filters.ts";
import { texts } from "../../../texts.ts";

const words = texts.operatorAudit;
const SHAPE = { org: text(), actor: text(), action: text(), target: text() };

export function OperatorAuditPage() {
  const [filters, setFilters] = useFilters(SHAPE);
  const log = useInfiniteQuery({
    queryKey: ["operator", "audit", filters],
    initialPageParam: "",
    queryFn: ({ pageParam, signal }) => fetchOperatorAudit({ ...filters, cursor: pageParam }, signal),
    getNextPageParam: ({ next_cursor }) => next_cursor,
  });
  return (
    <Page
      title={texts.operatorPages.audit}
      lead={words.lead}
      actions={
        <ButtonLink to={withQuery(api.operatorAuditCsv, filters)} reloadDocument variant="default">
          {words.csv}
        </ButtonLink>
      }
    >
      <Group gap="sm" align="flex-end">
        {(["org", "actor", "action", "target"] as const).map((name) => (
          <TextInput
            key={name}
            label={words.filters[name]}
            value={filters[name]}
            onChange={(event) => setFilters({ [name]: event.currentTarget.value })}
          />
        ))}
      </Group>
      {log.error !== null && <Failure error={log.error} retry={() => void log.refetch()} />}
      {log.isPending && <Loading lines={8} />}
      {log.data !== undefined && (
        <DataTable
          label={texts.operatorPages.audit}
          rows={log.data.pages.flatMap(({ data }) => data)}
          rowKey={({ id }) => id}
          columns={COLUMNS}
          more={
            log.hasNextPage
              ? { load: () => void log.fetchNextPage(), loading: log.isFetchingNextPage }
              : undefined
          }
        />
      )}
    </Page>
  );
}

const COLUMNS: Column<OperatorAuditRow>[] = [
  { title: words.columns.at, always: true, cell: ({ at }) => <Time at={at} /> },
  { title: words.columns.actor, cell: ({ actor }) => actor.name ?? actor.id },
  {
    title: words.columns.action,
    always: true,
    cell: ({ action }) => <Code style={{ whiteSpace: "nowrap" }}>{action}</Code>,
  },
  {
    title: words.columns.target,
    cell: ({ org, target }) => (
      <Stack gap={0}>
        <Text size="sm" className="name">
          {target}
        </Text>
        <Text size="xs" c="dimmed">
          {org ?? words.platform}
        </Text>
      </Stack>
    ),
  },
  {
    title: words.columns.change,
    cell: ({ before, after }) =>
      before === null && after === null ? null : (
        <Text size="sm" className="name" title={`${before ?? "–"} → ${after ?? "–"}`}>
          {formatChange(before)} → {formatChange(after)}
        </Text>
      ),
  },
];
