// What is held right now: the most that each running request can cost.
import { useInfiniteQuery } from "@tanstack/react-query";
import { moreOf, readPages } from "../../api/read.ts";
import type { Row } from "../../api/routes.ts";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { Ago, ExactMoney } from "../../components/figures.tsx";
import { Link } from "../../components/link.tsx";
import { Section } from "../../components/page.tsx";
import { Loaded } from "../../components/states.tsx";
import { path } from "../../path-builder.ts";
import { billingTexts as words } from "./texts.ts";

type OpenHold = Row<"GET /orgs/{org}/billing/holds">;

export function Holds({ org }: { org: string }) {
  const holds = useInfiniteQuery({
    ...readPages("GET /orgs/{org}/billing/holds", { org }),
    refetchInterval: 10_000,
  });
  const columns: Column<OpenHold>[] = [
    {
      title: words.columns.request,
      always: true,
      cell: ({ request }) => (
        <Link to={path.organization(org, "activity")} search={{ req: request }} size="sm" className="name">
          {request}
        </Link>
      ),
    },
    { title: words.columns.key, cell: ({ key }) => <span className="name">{key.name}</span> },
    { title: words.columns.model, cell: ({ model }) => <span className="name">{model}</span> },
    { title: words.columns.age, cell: ({ admitted_at }) => <Ago at={admitted_at} /> },
    { title: words.columns.deadline, cell: ({ deadline_at }) => <Ago at={deadline_at} /> },
    {
      title: words.columns.amount,
      always: true,
      figures: true,
      cell: ({ amount_usd }) => <ExactMoney usd={amount_usd} />,
    },
  ];
  return (
    <Section title={words.holds}>
      <Loaded query={holds}>
        {(rows) => (
          <DataTable
            label={words.holds}
            rows={rows}
            rowKey={({ request }) => request}
            columns={columns}
            more={moreOf(holds)}
          />
        )}
      </Loaded>
    </Section>
  );
}
