// The columns of the entitlements table.
import { Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";
import type { Row } from "../../api/routes.ts";
import type { Column } from "../../components/data-table.tsx";
import { Ago, Money, Time } from "../../components/figures.tsx";
import { RowActs } from "../../components/row-acts.tsx";
import { StateBadge } from "../../components/state-badge.tsx";
import { path } from "../../path-builder.ts";
import { researchTexts as words } from "./texts.ts";

type Entitlement = Row<"GET /orgs/{org}/research">;

const { columns } = words;

interface ColumnTerms {
  org: string;
  mayAsk: boolean;
  mayMakeKeys: boolean;
  onWithdraw: (entitlement: Entitlement) => void;
}

export const entitlementColumns = (terms: ColumnTerms): Column<Entitlement>[] => [
  {
    title: columns.model,
    always: true,
    order: ({ model, project }) => `${model} ${project}`,
    cell: (entitlement) => <Subject of={entitlement} />,
  },
  {
    title: columns.state,
    always: true,
    order: ({ state }) => state,
    cell: (entitlement) => (
      <Cell small={isShut(entitlement) && words.shut}>
        <StateBadge state={entitlement.state} />
      </Cell>
    ),
  },
  {
    title: columns.asked,
    order: ({ created_at }) => created_at,
    cell: ({ asked_by, requested_by, created_at }) => (
      <Cell small={<Ago at={created_at} />}>{asked_by?.name ?? requested_by}</Cell>
    ),
  },
  {
    title: columns.decided,
    cell: (entitlement) => <Decision of={entitlement} />,
  },
  {
    title: columns.ends,
    order: ({ expires_at, wanted_until }) => expires_at ?? wanted_until ?? "",
    cell: (entitlement) => <End of={entitlement} />,
  },
  {
    title: columns.spend,
    figures: true,
    order: ({ spend_usd }) => Number.parseFloat(spend_usd),
    cell: ({ spend_usd }) => <Money usd={spend_usd} />,
  },
  {
    title: columns.routes,
    cell: (entitlement) => <Routes of={entitlement} />,
  },
  {
    title: columns.actions,
    always: true,
    acts: true,
    cell: (entitlement) => <Acts of={entitlement} {...terms} />,
  },
];

/** Approved, but no route is live. */
const isShut = ({ state, routes }: Entitlement): boolean =>
  state === "active" && !routes.some((route) => route.state === "live");

const Cell = ({ children, small }: { children: ReactNode; small: ReactNode }) => (
  <div>
    <div className="name">{children}</div>
    {small !== null && small !== false && (
      <Text size="xs" c="dimmed" component="div" className="name">
        {small}
      </Text>
    )}
  </div>
);

/** The model, the project and its purpose. */
const Subject = ({ of: { model, project, purpose } }: { of: Entitlement }) => (
  <Cell
    small={
      <>
        {project}
        {purpose !== null && (
          <Text size="xs" lineClamp={2} title={purpose}>
            {purpose}
          </Text>
        )}
      </>
    }
  >
    <Text span size="sm" fw={600} className="name">
      {model}
    </Text>
  </Cell>
);

/** The model is in the row already. */
const placeOf = (route: string): string => route.slice(route.indexOf("@") + 1);

const Routes = ({ of: { routes } }: { of: Entitlement }) => (
  <Stack gap={4}>
    {routes.map(({ route, state, reason }) => (
      <Cell key={route} small={placeOf(route) + (reason === null ? "" : `: ${reason}`)}>
        <StateBadge state={state} />
      </Cell>
    ))}
    {routes.length === 0 && words.noRoutes}
  </Stack>
);

function Decision({ of }: { of: Entitlement }) {
  const { decided_by, approved_by, state, note } = of;
  if (decided_by === null) return words.undecided;
  const act = approved_by === null ? state : "active";
  return <Cell small={note}>{words.decisions[act](decided_by.name ?? decided_by.id)}</Cell>;
}

function End({ of: { state, expires_at, wanted_until } }: { of: Entitlement }) {
  if (expires_at !== null)
    return (
      <Cell small={state === "active" && <Ago at={expires_at} />}>
        <Time at={expires_at} />
      </Cell>
    );
  return wanted_until === null ? (
    words.noEnd
  ) : (
    <Cell small={words.wanted}>
      <Time at={wanted_until} />
    </Cell>
  );
}

function Acts({ of, org, mayAsk, mayMakeKeys, onWithdraw }: ColumnTerms & { of: Entitlement }) {
  const label = words.menu(of.project);
  if (of.state === "requested" && mayAsk)
    return <RowActs label={label} acts={[{ label: words.withdraw, act: () => onWithdraw(of) }]} />;
  if (of.state === "active" && mayMakeKeys) {
    const act = { to: path.organization(org, "keys"), search: { create: "research" } };
    return <RowActs label={label} acts={[{ label: words.makeKey, act }]} />;
  }
  return null;
}
