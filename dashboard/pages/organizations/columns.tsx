// The columns of the organizations table.
import { Code, Group, Stack } from "@mantine/core";
import type { Row } from "../../api/routes.ts";
import type { Column } from "../../components/data-table.tsx";
import { Ago, Money } from "../../components/figures.tsx";
import { Link } from "../../components/link.tsx";
import { RowActs } from "../../components/row-acts.tsx";
import { StateBadge } from "../../components/state-badge.tsx";
import { formatCount } from "../../format/count.ts";
import { isZero } from "../../format/money.ts";
import { path } from "../../path-builder.ts";
import { organizationsTexts as words } from "./texts.ts";

type OrganizationRow = Row<"GET /operator/organizations">;

type Act = (kind: "rename" | "invite", of: OrganizationRow) => void;

export const organizationColumns = (act: Act): Column<OrganizationRow>[] => [
  {
    title: words.columns.name,
    always: true,
    order: ({ name }) => name.toLowerCase(),
    cell: ({ id, name, open_entitlements }) => (
      <Stack gap={2} align="flex-start">
        <Link to={path.organization(id)} size="sm" className="name clamped" title={name}>
          {name}
        </Link>
        <Code className="figures">{id}</Code>
        {open_entitlements > 0 && (
          <Link to={path.operator("entitlements")} search={{ org: id, state: "requested" }} size="xs">
            {words.asked(open_entitlements)}
          </Link>
        )}
      </Stack>
    ),
  },
  {
    title: words.columns.available,
    always: true,
    figures: true,
    order: ({ available_usd }) => Number.parseFloat(available_usd),
    cell: (row) => <Balance of={row} />,
  },
  {
    title: words.columns.held,
    figures: true,
    wider: true,
    order: ({ held_usd }) => Number.parseFloat(held_usd),
    cell: ({ held_usd }) => <Money usd={held_usd} />,
  },
  {
    title: words.columns.spend,
    figures: true,
    order: ({ spend_30d_usd }) => Number.parseFloat(spend_30d_usd),
    cell: ({ spend_30d_usd }) => <Money usd={spend_30d_usd} />,
  },
  {
    title: words.columns.keys,
    figures: true,
    order: ({ keys }) => keys,
    cell: ({ keys }) => formatCount(keys),
  },
  {
    title: words.columns.members,
    figures: true,
    wider: true,
    order: ({ members }) => members,
    cell: ({ members }) => formatCount(members),
  },
  {
    title: words.columns.lastRequest,
    order: ({ last_request_at }) => last_request_at ?? "",
    cell: ({ last_request_at }) => <Ago at={last_request_at} />,
  },
  {
    title: words.columns.actions,
    always: true,
    acts: true,
    cell: (row) => (
      <RowActs
        label={words.menu(row.name)}
        acts={[
          { label: words.invite, act: () => act("invite", row) },
          { label: words.rename, act: () => act("rename", row) },
        ]}
      />
    ),
  },
];

const Balance = ({ of }: { of: OrganizationRow }) => (
  <Stack gap={2} align="flex-end">
    <Money usd={of.available_usd} />
    {!isZero(of.debt_usd) && (
      <Group gap={4} wrap="nowrap">
        <StateBadge state="failed" word={words.debt} />
        <Money usd={of.debt_usd} />
      </Group>
    )}
    {of.paid_workspace && <StateBadge state="paid" word={words.paid} />}
  </Stack>
);
