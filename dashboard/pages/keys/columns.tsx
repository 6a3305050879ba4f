// The columns of the keys table.
import { Box, Button, Code, Group, Stack, Text } from "@mantine/core";
import type { Row } from "../../api/routes.ts";
import type { Column } from "../../components/data-table.tsx";
import { Ago, Money } from "../../components/figures.tsx";
import { Link } from "../../components/link.tsx";
import { Meter } from "../../components/meter.tsx";
import { formatDay } from "../../format/time.ts";
import { addMoney, formatMoney } from "../../format/money.ts";
import { path } from "../../path-builder.ts";
import { keysTexts as words } from "./texts.ts";
import { type KeyAct, RowMenu } from "./row-menu.tsx";
import { Day, KeyStateBadge, Maker, StateTime } from "./parts.tsx";
import { isOver, percentUsed, shortKeyOf, shownName, stateOf, usedOf } from "./state.ts";

type Key = Row<"GET /orgs/{org}/keys">;

interface ColumnTerms {
  org: string;
  onAct: (act: KeyAct, key: Key) => void;
  /** The key that this one has just replaced, while the old one still works. */
  replacedBy: (key: Key) => Key | undefined;
}

export const keyColumns = ({ org, onAct, replacedBy }: ColumnTerms): Column<Key>[] => [
  {
    title: words.columns.name,
    always: true,
    order: ({ name }) => name.toLowerCase(),
    cell: (key) => (
      <Stack gap={0}>
        <Link to={path.key(org, key.id)} size="sm" className="name clamped" title={key.name}>
          {shownName(key)}
        </Link>
        <Group gap={6}>
          <Code title={key.prefix}>{shortKeyOf(key)}</Code>
        </Group>
        {stateOf(key) !== "active" && (
          <Box hiddenFrom="sm" mt={4}>
            <KeyStateBadge of={key} />
          </Box>
        )}
        <RevokeOld of={replacedBy(key)} onAct={onAct} />
      </Stack>
    ),
  },
  {
    title: words.columns.state,
    saidFirst: true,
    order: stateOf,
    cell: (key) => (
      <Stack gap={2} align="flex-start">
        <KeyStateBadge of={key} />
        <StateTime of={key} />
      </Stack>
    ),
  },
  {
    title: words.columns.scope,
    wider: true,
    order: ({ scope }) => scope,
    cell: ({ scope }) => words[scope],
  },
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
    cell: ({ left_usd }) => (left_usd === null ? words.limitNone : <Money usd={left_usd} />),
  },
  {
    title: words.columns.by,
    order: ({ created_by }) => created_by?.name ?? "",
    cell: ({ created_by, created_at }) => (
      <Stack gap={0}>
        <Maker of={created_by} />
        <Day at={created_at} />
      </Stack>
    ),
  },
  {
    title: words.columns.lastUsed,
    order: ({ last_used_at }) => last_used_at ?? "",
    cell: ({ last_used_at }) => <Ago at={last_used_at} />,
  },
  {
    title: words.columns.actions,
    always: true,
    acts: true,
    cell: (key) => (!isOver(key) && key.changeable ? <RowMenu of={key} onAct={onAct} /> : null),
  },
];

function RevokeOld({ of, onAct }: { of: Key | undefined; onAct: ColumnTerms["onAct"] }) {
  if (of === undefined) return null;
  return (
    <Group gap={6} mt={4}>
      <Button className="names" size="compact-xs" variant="light" onClick={() => onAct("revoke", of)}>
        {words.revokeOld(of.prefix)}
      </Button>
    </Group>
  );
}

function Spent({ of }: { of: Key }) {
  const percent = percentUsed(of);
  return (
    <Stack gap={0} align="flex-end">
      <Money usd={usedOf(of)} />
      {of.limit_usd !== null && (
        <>
          <Meter percent={percent} label={words.ofLimit(percent.toFixed(0))} />
          <Text size="xs" c="dimmed">
            {words.of} {formatMoney(of.limit_usd)}
          </Text>
        </>
      )}
      {of.reaches_limit_on !== null && (
        <Text size="xs" c="dimmed" className="wraps" title={words.paceHelp}>
          {words.reaches(formatDay(of.reaches_limit_on))}
        </Text>
      )}
      <Within limit={of.week_limit_usd} of={of.week} words={words.ofWeek} />
      <Within limit={of.day_limit_usd} of={of.day} words={words.ofDay} />
    </Stack>
  );
}

/** Use of a daily or weekly limit. */
function Within({ limit, of, words: said }: { limit: string | null; of: Key["day"]; words: string }) {
  if (limit === null || of === null) return null;
  return (
    <Text size="xs" c="dimmed" className="wraps">
      {said} {formatMoney(addMoney(of.spent_usd, of.held_usd))} {words.of} {formatMoney(limit)}
    </Text>
  );
}
