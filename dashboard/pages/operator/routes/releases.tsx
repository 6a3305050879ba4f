// The published releases of a route, who published them, and the keys whose signatures are accepted.
import { Code, Modal, Stack, Text } from "@mantine/core";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { moreOf, read, readPages } from "../../../api/read.ts";
import type { Row } from "../../../api/routes.ts";
import { type Column, DataTable } from "../../../components/data-table.tsx";
import { Time } from "../../../components/figures.tsx";
import { Section } from "../../../components/page.tsx";
import { Loaded } from "../../../components/states.tsx";
import { FocusBack } from "../../../components/opener.ts";
import { operatorRoutesTexts as words } from "./texts.ts";

type OperatedRoute = Row<"GET /operator/routes">;
type PublishedRelease = Row<"GET /operator/releases">;

export function History({ route, onClose }: { route: string; onClose: () => void }) {
  const releases = useInfiniteQuery(readPages("GET /operator/releases", {}, { route }));
  return (
    <Modal opened onClose={onClose} title={words.historyOf(route)} size="xl">
      <FocusBack />
      <Loaded query={releases}>
        {(rows) => (
          <DataTable
            label={words.historyOf(route)}
            rows={rows}
            rowKey={({ digest }) => digest}
            columns={COLUMNS}
            more={moreOf(releases)}
          />
        )}
      </Loaded>
    </Modal>
  );
}

const COLUMNS: Column<PublishedRelease>[] = [
  { title: words.columns.version, always: true, cell: ({ version }) => words.version(version) },
  {
    title: words.columns.published,
    always: true,
    cell: ({ published_at, published_by }) => (
      <Stack gap={0}>
        <Time at={published_at} />
        <Text size="xs" c="dimmed" className="name">
          {published_by?.name ?? published_by?.id ?? "–"}
        </Text>
      </Stack>
    ),
  },
  {
    title: words.columns.signed,
    cell: ({ issued_at, signed_by }) => (
      <Stack gap={0}>
        <Time at={issued_at} />
        <Text size="xs" c="dimmed" className="name">
          {words.signedBy(signed_by.slice(0, 12))}
        </Text>
      </Stack>
    ),
  },
  { title: words.columns.expires, cell: ({ expires_at }) => <Time at={expires_at} /> },
  {
    title: words.columns.digest,
    cell: ({ digest }) => <Code title={digest}>{digest.slice(0, 12)}…</Code>,
  },
];

export function TrustedKeys({ routes }: { routes: readonly OperatedRoute[] }) {
  const keys = useQuery(read("GET /operator/trusted-keys", {}));
  return (
    <Section title={words.trustedKeys}>
      <Text size="sm" c="dimmed">
        {words.trustedLead}
      </Text>
      <Loaded query={keys}>
        {({ data }) => (
          <DataTable
            label={words.trustedKeys}
            rows={data}
            rowKey={({ id }) => id}
            none={words.noTrustedKeys}
            columns={[
              {
                title: words.columns.key,
                always: true,
                cell: ({ id }) => <Code className="name">{id}</Code>,
              },
              {
                title: words.columns.use,
                always: true,
                figures: true,
                cell: ({ id }) => words.inUse(routes.filter(({ signed_by }) => signed_by === id).length),
              },
            ]}
          />
        )}
      </Loaded>
    </Section>
  );
}
