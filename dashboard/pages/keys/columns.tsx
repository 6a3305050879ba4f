// The columns of the keys table.
import { Code, Group, Stack, Text } from "@mantine/core";
import type { KeyJson } from "../../../src/contract/admin.ts";
import type { Column } from "../../components/data-table.tsx";
import { Ago, Money } from "../../components/figures.tsx";
import { Link } from "../../components/link.tsx";
import { Meter } from "../../components/meter.tsx";
import { StateBadge } from "../../components/state-badge.tsx";
import { isNegative, subMoney } from "../../format/money.ts";
import { nextMonth } from "../../format/time.ts";
import { path } from "../../path-builder.ts";
import { texts } from "../../texts.ts";
import { type KeyAct, RowMenu } from "./row-menu.tsx";
import { percentUsed, stateOf, usedOf } from "./state.ts";

const words = texts.keys;

interface ColumnTerms {
  org: string;
  mayChange: (key: KeyJson) => boolean;
  onAct: (act: KeyAct, key: KeyJson) => void;
}

export const keyColumns = ({ org, mayChange, onAct }: ColumnTerms): Column<KeyJson>[] => [
  {
    title: words.columns.name,
    always: true,
    order: ({ name }) => name.toLowerCase(),
    cell: (key) => (
      <Stack gap={0}>
        <Link
          to={path.organization(org, "activity")}
          search={{ key: key.id }}
          size="sm"
          fw={600}
          className="name"
        >
          {key.name}
        </Link>
        <Group gap={6}>
          <Code>{key.prefix}…</Code>
          <Text size="xs" c="dimmed">
            {key.scope === "research" ? words.research : words.standard}
          </Text>
        </Group>
      </Stack>
    ),
  },
  { title: words.columns.state, order: stateOf, cell: (key) => <KeyStateBadge of={key} /> },
  {
    title: words.columns.month,
    always: true,
    figures: true,
    order: (key) => Number.parseFloat(usedOf(key)),
    cell: (key) => <Spent of={key} />,
  },
  {
    title: words.columns.left,
    figures: true,
    cell: ({ limit_usd, ...key }) => {
      if (limit_usd === null) return words.limitNone;
      const left = subMoney(limit_usd, usedOf({ limit_usd, ...key }));
      return <Money usd={isNegative(left) ? "0" : left} />;
    },
  },
  {
    title: words.columns.lastUsed,
    order: ({ last_used_at }) => last_used_at ?? "",
    cell: ({ last_used_at }) => <Ago at={last_used_at} />,
  },
  {
    title: words.columns.actions,
    always: true,
    figures: true,
    cell: (key) => (key.status === "active" && mayChange(key) ? <RowMenu of={key} onAct={onAct} /> : null),
  },
];

function KeyStateBadge({ of }: { of: KeyJson }) {
  const state = stateOf(of);
  return (
    <StateBadge
      state={state}
      word={state === "limit" ? words.states.limit(nextMonth()) : words.states[state]}
    />
  );
}

function Spent({ of }: { of: KeyJson }) {
  const percent = percentUsed(of);
  return (
    <Stack gap={0} align="flex-end">
      <span>
        <Money usd={usedOf(of)} />
        {of.limit_usd !== null && (
          <>
            {" "}
            {words.of} <Money usd={of.limit_usd} />
          </>
        )}
      </span>
      {of.limit_usd !== null && <Meter percent={percent} label={words.ofLimit(percent.toFixed(0))} />}
    </Stack>
  );
}
