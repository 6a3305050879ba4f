// The columns of the members table.
import { Group, Stack, Text } from "@mantine/core";
import type { Row } from "../../api/routes.ts";
import type { Column } from "../../components/data-table.tsx";
import { Ago, Money } from "../../components/figures.tsx";
import { Link } from "../../components/link.tsx";
import { StateBadge } from "../../components/state-badge.tsx";
import { Parts } from "../../components/parts.tsx";
import { formatDay } from "../../format/time.ts";
import { path } from "../../path-builder.ts";
import { teamTexts as words } from "./texts.ts";
import { RowMenu, type RowMenuProps } from "./row-menu.tsx";

type Member = Row<"GET /orgs/{org}/team">;

interface ColumnTerms extends Omit<RowMenuProps, "of"> {
  org: string;
}

export const memberColumns = ({ org, ...terms }: ColumnTerms): Column<Member>[] => [
  {
    title: words.columns.member,
    always: true,
    order: ({ person, email }) => (person.name ?? email).toLowerCase(),
    cell: (member) => <MemberCell of={member} />,
  },
  {
    title: words.columns.role,
    saidFirst: true,
    always: true,
    order: ({ role }) => role,
    cell: ({ role }) => words.roles[role],
  },
  {
    title: words.columns.twoFactor,
    order: ({ two_factor }) => (two_factor ? 1 : 0),
    cell: ({ two_factor }) => (
      <StateBadge state={two_factor ? "ok" : "disabled"} word={two_factor ? words.on : words.off} />
    ),
  },
  {
    title: words.columns.lastSeen,
    order: ({ last_seen_at }) => last_seen_at ?? "",
    cell: ({ last_seen_at }) => <Ago at={last_seen_at} />,
  },
  {
    title: words.columns.joined,
    wider: true,
    order: ({ joined_at }) => joined_at,
    cell: ({ joined_at }) => `${formatDay(joined_at)} UTC`,
  },
  {
    title: words.columns.keys,
    figures: true,
    order: ({ keys }) => keys,
    cell: (member) => <KeysCell of={member} org={org} />,
  },
  {
    title: words.columns.month,
    figures: true,
    always: true,
    order: ({ month_spend_usd }) => Number.parseFloat(month_spend_usd),
    cell: ({ month_spend_usd }) => <Money usd={month_spend_usd} />,
  },
  {
    title: words.columns.actions,
    acts: true,
    always: true,
    figures: true,
    cell: (member) => <RowMenu of={member} {...terms} />,
  },
];

/** The person; on a narrow screen also the role. */
const MemberCell = ({ of: { person, email, role, you } }: { of: Member }) => (
  <Stack gap={0}>
    <Group gap={6}>
      <Text size="sm" fw={600} className="name">
        {person.name ?? person.id}
      </Text>
      {you && (
        <Text size="xs" c="dimmed">
          ({words.you})
        </Text>
      )}
    </Group>
    <Text size="xs" c="dimmed" className="name">
      <Parts of={email} />
    </Text>
    <Text size="xs" hiddenFrom="sm">
      {words.roles[role]}
    </Text>
  </Stack>
);

/** How many keys they made, with a link to them. */
const KeysCell = ({ of: { keys, person, email }, org }: { of: Member; org: string }) =>
  keys === 0 ? (
    keys
  ) : (
    <Link
      to={path.organization(org, "keys")}
      search={{ by: person.id }}
      size="sm"
      aria-label={words.keysOf(keys, person.name ?? email)}
    >
      {keys}
    </Link>
  );
