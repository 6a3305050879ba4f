// What expires soon or has expired: each line links to where it is renewed.
import { useQuery } from "@tanstack/react-query";
import { read } from "../../../api/read.ts";
import type { Row } from "../../../api/routes.ts";
import { type Column, DataTable } from "../../../components/data-table.tsx";
import { Ago } from "../../../components/figures.tsx";
import { Link } from "../../../components/link.tsx";
import { Section } from "../../../components/page.tsx";
import { Parts } from "../../../components/parts.tsx";
import { StateBadge } from "../../../components/state-badge.tsx";
import { Loaded } from "../../../components/states.tsx";
import { path } from "../../../path-builder.ts";
import { operatorHomeTexts as words } from "./texts.ts";
import { OrganizationName } from "../../../components/organization-name.tsx";

type EndingRow = Row<"GET /operator/home/ending">;

/** Where it is renewed. */
function wayTo({ kind, id, org }: EndingRow): { to: string; search?: Record<string, string> } {
  if (kind === "key" && org !== null) return { to: path.organization(org, "keys"), search: { search: id } };
  if (kind === "release") return { to: path.operator("routes") };
  return { to: path.operator(kind === "entitlement" ? "entitlements" : "people") };
}

export function Ending() {
  const ending = useQuery({ ...read("GET /operator/home/ending", {}), refetchInterval: 60_000 });
  return (
    <Section title={words.ending}>
      <Loaded query={ending}>
        {({ data }) => (
          <DataTable
            label={words.ending}
            rows={data}
            rowKey={({ kind, id }) => `${kind} ${id}`}
            columns={COLUMNS}
            none={words.noEnding}
          />
        )}
      </Loaded>
    </Section>
  );
}

const COLUMNS: Column<EndingRow>[] = [
  {
    title: words.columns.what,
    always: true,
    cell: (row) => (
      <Link {...wayTo(row)} size="sm" className="name">
        <Parts of={row.title} />
      </Link>
    ),
  },
  { title: words.columns.kind, cell: ({ kind }) => words.kinds[kind] },
  {
    title: words.columns.whose,
    cell: ({ org, org_name }) =>
      org === null ? (
        "–"
      ) : (
        <Link to={path.organization(org)} size="sm" className="name clamped">
          <OrganizationName id={org} name={org_name} />
        </Link>
      ),
  },
  {
    title: words.columns.ends,
    always: true,
    cell: ({ ends_at, over }) => (
      <>
        {over && <StateBadge state="failed" word={words.over} />} <Ago at={ends_at} />
      </>
    ),
  },
];
