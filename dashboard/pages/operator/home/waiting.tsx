// What waits for an operator, each line with a link to where it is done.
import { useQuery } from "@tanstack/react-query";
import { read } from "../../../api/read.ts";
import type { Row } from "../../../api/routes.ts";
import { type Column, DataTable } from "../../../components/data-table.tsx";
import { Ago, Money } from "../../../components/figures.tsx";
import { Link } from "../../../components/link.tsx";
import { Section } from "../../../components/page.tsx";
import { Loaded } from "../../../components/states.tsx";
import { path } from "../../../path-builder.ts";
import { operatorHomeTexts as words } from "./texts.ts";
import { OrganizationName } from "../../../components/organization-name.tsx";

type WaitingRow = Row<"GET /operator/home/waiting">;

export function Waiting() {
  const waiting = useQuery({ ...read("GET /operator/home/waiting", {}), refetchInterval: 60_000 });
  return (
    <Section title={words.waiting}>
      <Loaded query={waiting}>
        {({ data }) => (
          <DataTable
            label={words.waiting}
            rows={data}
            rowKey={({ kind, id }) => `${kind} ${id}`}
            columns={COLUMNS}
            none={words.noWaiting}
          />
        )}
      </Loaded>
    </Section>
  );
}

const COLUMNS: Column<WaitingRow>[] = [
  {
    title: words.columns.what,
    always: true,
    cell: ({ kind, org, model }) =>
      kind === "credits" ? (
        <Link to={path.organization(org, "billing")} size="sm" className="name">
          {words.lowCredits}
        </Link>
      ) : (
        <Link
          to={path.operator("entitlements")}
          search={{ org, state: "requested" }}
          size="sm"
          className="name"
        >
          {words.asksFor(model ?? "")}
        </Link>
      ),
  },
  {
    title: words.columns.whose,
    always: true,
    cell: ({ org, org_name }) => (
      <Link to={path.organization(org)} size="sm" className="name clamped">
        <OrganizationName id={org} name={org_name} />
      </Link>
    ),
  },
  {
    title: words.columns.how,
    always: true,
    cell: ({ available_usd, burn_usd_per_day, since }) =>
      available_usd === null || burn_usd_per_day === null ? (
        <Ago at={since} />
      ) : (
        <>
          <Money usd={available_usd} /> {words.leftAt} <Money usd={burn_usd_per_day} /> {words.aDay}
        </>
      ),
  },
];
