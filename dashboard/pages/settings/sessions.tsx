// Where a person is signed in; any of it can be ended from here.
import { Button, Stack, Text } from "@mantine/core";
import { type Profile, useEndOtherSessions, useEndSession } from "../../api/settings.ts";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { Ago, Time } from "../../components/figures.tsx";
import { Section } from "../../components/page.tsx";
import { Failure } from "../../components/states.tsx";
import { formatAgent } from "../../format/agent.ts";
import { texts } from "../../texts.ts";

const words = texts.settings;

type PersonSession = Profile["sessions"][number];

export function Sessions({ of }: { of: readonly PersonSession[] }) {
  const end = useEndSession();
  const endOthers = useEndOtherSessions();
  const error = end.error ?? endOthers.error;
  const others = of.some(({ current }) => !current) && (
    <Button
      size="compact-sm"
      variant="default"
      loading={endOthers.isPending}
      onClick={() => endOthers.mutate()}
    >
      {words.endOthers}
    </Button>
  );
  return (
    <Section title={words.sessions} actions={others}>
      {error !== null && <Failure error={error} />}
      <DataTable
        label={words.sessions}
        rows={of}
        rowKey={({ id }) => id}
        columns={columns((id) => end.mutate(id))}
      />
    </Section>
  );
}

const columns = (end: (id: string) => void): Column<PersonSession>[] => [
  {
    title: words.columns.where,
    always: true,
    cell: ({ agent, address, current }) => (
      <Stack gap={0}>
        <Text size="sm" className="name" title={agent ?? undefined}>
          {formatAgent(agent)}
        </Text>
        <Text size="xs" c="dimmed" className="name">
          {address ?? ""} {current && words.thisOne}
        </Text>
      </Stack>
    ),
  },
  { title: words.columns.since, cell: ({ created_at }) => <Time at={created_at} /> },
  { title: words.columns.seen, cell: ({ last_seen_at }) => <Ago at={last_seen_at} /> },
  {
    title: words.columns.actions,
    always: true,
    cell: ({ id, current }) =>
      !current && (
        <Button size="compact-sm" variant="default" onClick={() => end(id)}>
          {words.end}
        </Button>
      ),
  },
];
