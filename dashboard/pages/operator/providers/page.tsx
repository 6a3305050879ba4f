// The configured providers: whether they answer, what fails, and what the platform paid for them.
import { type ReactNode, useState } from "react";
import { Alert, Code, Group, Paper, SimpleGrid, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { read } from "../../../api/read.ts";
import type { Row } from "../../../api/routes.ts";
import { type Column, DataTable } from "../../../components/data-table.tsx";
import { Ago, Money } from "../../../components/figures.tsx";
import { Parts } from "../../../components/parts.tsx";
import { Page } from "../../../components/page.tsx";
import { StateAndReason } from "../../../components/state-badge.tsx";
import { Empty, Loaded } from "../../../components/states.tsx";
import { formatCount } from "../../../format/count.ts";
import { circuitNames, operatorPageNames } from "../../../components/texts.ts";
import { operatorProvidersTexts as words } from "./texts.ts";
import { Acts } from "./acts.tsx";
import { notLiveFirst, worstFirst } from "./worst-first.ts";

type Provider = Row<"GET /operator/providers">;

export function ProvidersPage() {
  const providers = useQuery({ ...read("GET /operator/providers", {}), refetchInterval: 5_000 });
  return (
    <Page title={operatorPageNames.providers} lead={words.lead}>
      <Loaded query={providers}>
        {({ data }) =>
          data.length === 0 ? <Empty icon="providers">{words.empty}</Empty> : <Cards of={data} />
        }
      </Loaded>
    </Page>
  );
}

/** Keeps the order from when the page was opened: no button moves from under the pointer because a route recovers. */
function Cards({ of }: { of: readonly Provider[] }) {
  const [names] = useState(() => worstFirst(of).map(({ name }) => name));
  const known = names.flatMap((name) => of.find((provider) => provider.name === name) ?? []);
  const since = of.filter(({ name }) => !names.includes(name));
  return [...known, ...since].map((provider) => <Card key={provider.name} of={provider} />);
}

const Card = ({ of }: { of: Provider }) => (
  <Paper withBorder p="md" component="section" aria-label={of.name}>
    <Stack gap="md">
      <Group justify="space-between" gap="xs">
        <Group gap="xs">
          <Title order={2} className="name">
            {of.name}
          </Title>
          <Code>{of.kind}</Code>
          {of.host !== null && (
            <Text size="sm" className="name">
              {of.host}
            </Text>
          )}
          <Text size="sm" c="dimmed">
            {of.secret_set ? words.secretSet : words.noSecret}
          </Text>
        </Group>
        <Acts of={of} />
      </Group>
      {of.account !== null && (
        <Alert color="orange" variant="light" title={words.account[of.account.cause](of.name)}>
          <Text size="sm" className="name">
            {of.account.words !== null && <>{of.account.words} · </>}
            <Ago at={of.account.at} />
          </Text>
          <Text size="sm">{words.accountHelp[of.account.cause]}</Text>
        </Alert>
      )}
      {of.opened !== null && (
        <Alert color="orange" variant="light" title={words.opened}>
          <Text size="sm" className="name">
            {of.opened.reason} · {of.opened.by.name ?? of.opened.by.id} · <Ago at={of.opened.at} />
          </Text>
        </Alert>
      )}
      {of.doubts.length > 0 && (
        <Alert color="yellow" variant="light" title={words.doubts}>
          {of.doubts.map(({ doubt, attempts }) => (
            <Text key={doubt} size="sm">
              {words.doubt[doubt](formatCount(attempts))}
            </Text>
          ))}
        </Alert>
      )}
      <SimpleGrid cols={{ base: 2, md: 4 }} spacing={{ base: "xs", sm: "md" }}>
        <Figure title={words.lastProbe}>
          {of.last_probe === null ? (
            words.notProbed
          ) : (
            <>
              {of.last_probe.failing ? words.failing : words.answered} · <Ago at={of.last_probe.at} />
            </>
          )}
        </Figure>
        <Figure title={words.running}>{formatCount(of.running)}</Figure>
        <Figure title={words.variance}>
          <Money usd={of.variance_usd} />
        </Figure>
        <Figure title={words.errors}>
          {of.errors.length === 0
            ? words.noErrors
            : of.errors.map((error) => words.failed(formatCount(error.attempts), error.class)).join(", ")}
        </Figure>
      </SimpleGrid>
      <DataTable
        label={words.routesOf(of.name)}
        rows={notLiveFirst(of.routes)}
        rowKey={({ route }) => route}
        columns={COLUMNS}
      />
    </Stack>
  </Paper>
);

const Figure = ({ title, children }: { title: string; children: ReactNode }) => (
  <div>
    <Text size="sm" c="dimmed">
      {title}
    </Text>
    <Text size="sm" className="name">
      {children}
    </Text>
  </div>
);

const COLUMNS: Column<Provider["routes"][number]>[] = [
  {
    title: words.columns.route,
    always: true,
    cell: ({ route }) => (
      <span className="name">
        <Parts of={route} />
      </span>
    ),
  },
  {
    title: words.columns.state,
    always: true,
    cell: ({ state, reason }) => <StateAndReason state={state} reason={reason} />,
  },
  {
    title: words.columns.circuit,
    cell: ({ circuit, state }) => (state === "live" || circuit !== "closed" ? circuitNames[circuit] : "–"),
  },
  { title: words.columns.failures, figures: true, cell: ({ failures }) => formatCount(failures) },
  { title: words.columns.probe, cell: ({ next_probe_at }) => <Ago at={next_probe_at} never="–" /> },
];
