// Alerts: what is watched, where messages go, and what became of them. One message per crossing, not per request.
import { Button, Code, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import {
  type AlertChannel,
  type AlertDelivery,
  type AlertRule,
  channelsQuery,
  deliveriesQuery,
  rulesQuery,
  useRemoveChannel,
  useRemoveRule,
  useTestChannel,
} from "../../api/alerts.ts";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { Ago, Time } from "../../components/figures.tsx";
import { Icon } from "../../components/icon.tsx";
import { Page, Section } from "../../components/page.tsx";
import { RowActs } from "../../components/row-acts.tsx";
import { StateBadge } from "../../components/state-badge.tsx";
import { Empty, Failure, Loaded } from "../../components/states.tsx";
import { useMembership } from "../../membership.tsx";
import { texts } from "../../texts.ts";
import { ChannelDialog } from "./channel.tsx";
import { conditionOf } from "./condition.ts";
import { RuleDialog } from "./rule.tsx";

const words = texts.alerts;
type Act = { kind: "rule"; of: AlertRule | null } | { kind: "channel" };

export function AlertsPage() {
  const { org, may } = useMembership();
  const rules = useQuery(rulesQuery(org.id));
  const channels = useQuery(channelsQuery(org.id));
  const deliveries = useQuery(deliveriesQuery(org.id));
  const [act, setAct] = useState<Act | null>(null);
  const close = (): void => setAct(null);
  const mayChange = may("alerts.change");
  const named = new Map((channels.data?.data ?? []).map(({ id, name }) => [id, name]));
  const add = mayChange && (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setAct({ kind: "rule", of: null })}>
      {words.addRule}
    </Button>
  );
  return (
    <Page title={texts.pages.alerts} lead={words.lead} actions={add}>
      <Loaded query={rules}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty icon="alerts" action={add}>
              {words.noRules}
            </Empty>
          ) : (
            <Rules org={org.id} rows={data} named={named} edit={mayChange ? setAct : null} />
          )
        }
      </Loaded>
      <Section
        title={words.channels}
        actions={
          mayChange && (
            <Button size="xs" variant="default" onClick={() => setAct({ kind: "channel" })}>
              {words.addChannel}
            </Button>
          )
        }
      >
        <Loaded query={channels}>
          {({ data }) => <Channels org={org.id} rows={data} mayChange={mayChange} />}
        </Loaded>
      </Section>
      <Section title={words.deliveries}>
        <Loaded query={deliveries}>
          {({ data }) => (
            <DataTable
              label={words.deliveries}
              rows={data}
              rowKey={({ id }) => id}
              columns={deliveryColumns(named)}
              none={words.noDeliveries}
            />
          )}
        </Loaded>
      </Section>
      {act?.kind === "rule" && (
        <RuleDialog org={org.id} of={act.of} channels={channels.data?.data ?? []} onClose={close} />
      )}
      {act?.kind === "channel" && <ChannelDialog org={org.id} onClose={close} />}
    </Page>
  );
}

interface RulesProps {
  org: string;
  rows: readonly AlertRule[];
  named: ReadonlyMap<string, string>;
  edit: ((act: Act) => void) | null;
}

function Rules({ org, rows, named, edit }: RulesProps) {
  const remove = useRemoveRule(org);
  const columns: Column<AlertRule>[] = [
    { title: words.columns.rule, always: true, cell: (rule) => conditionOf(rule) },
    {
      title: words.columns.state,
      always: true,
      cell: ({ on, firing }) =>
        on ? (
          <StateBadge state={firing ? "limit" : "ok"} word={firing ? words.firing : words.quiet} />
        ) : (
          <StateBadge state="disabled" word={words.off} />
        ),
    },
    {
      title: words.columns.channels,
      cell: ({ channels }) => (
        <span className="name">
          {channels.map((id) => named.get(id) ?? id).join(", ") || words.dashboard}
        </span>
      ),
    },
    { title: words.columns.fired, cell: ({ last_fired_at }) => <Ago at={last_fired_at} /> },
    {
      title: words.columns.actions,
      acts: true,
      always: true,
      cell: (of) =>
        edit !== null && (
          <RowActs
            label={words.menu(conditionOf(of))}
            acts={[
              { label: words.edit, act: () => edit({ kind: "rule", of }) },
              { label: words.remove, act: () => remove.mutate(of.id) },
            ]}
          />
        ),
    },
  ];
  return (
    <>
      {remove.error !== null && <Failure error={remove.error} />}
      <DataTable label={words.rules} rows={rows} rowKey={({ id }) => id} columns={columns} />
    </>
  );
}

function Channels({
  org,
  rows,
  mayChange,
}: {
  org: string;
  rows: readonly AlertChannel[];
  mayChange: boolean;
}) {
  const remove = useRemoveChannel(org);
  const test = useTestChannel(org);
  const columns: Column<AlertChannel>[] = [
    { title: words.columns.name, always: true, cell: ({ name }) => <span className="name">{name}</span> },
    { title: words.columns.kind, cell: ({ kind }) => words.kinds[kind] },
    { title: words.columns.target, cell: ({ target }) => <Code className="name">{target ?? "–"}</Code> },
    {
      title: words.columns.actions,
      acts: true,
      always: true,
      cell: ({ id, name }) =>
        mayChange && (
          <RowActs
            label={words.menu(name)}
            acts={[
              { label: words.test, act: () => test.mutate(id) },
              { label: words.remove, act: () => remove.mutate(id) },
            ]}
          />
        ),
    },
  ];
  const error = remove.error ?? test.error;
  return (
    <>
      {error !== null && <Failure error={error} />}
      <DataTable label={words.channels} rows={rows} rowKey={({ id }) => id} columns={columns} />
    </>
  );
}

const deliveryColumns = (named: ReadonlyMap<string, string>): Column<AlertDelivery>[] => [
  { title: words.columns.at, always: true, cell: ({ at }) => <Time at={at} /> },
  { title: words.columns.text, cell: ({ text }) => <span className="name">{text}</span> },
  {
    title: words.columns.channel,
    cell: ({ channel }) => <span className="name">{named.get(channel) ?? channel}</span>,
  },
  {
    title: words.columns.state,
    always: true,
    cell: ({ state, tries, status, next_try_at }) => (
      <Stack gap={2} align="flex-start">
        <StateBadge state={state} />
        <Text size="xs" c="dimmed">
          {words.tries(tries)}
          {status !== null && ` · ${status}`}
          {next_try_at !== null && (
            <>
              {" · "}
              <Ago at={next_try_at} />
            </>
          )}
        </Text>
      </Stack>
    ),
  },
];
