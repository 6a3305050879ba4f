// The providers, the worst first: state with its reason and since when, calls, errors, time to the first token.
import { useQuery } from "@tanstack/react-query";
import { read } from "../../../api/read.ts";
import type { Row } from "../../../api/routes.ts";
import { type Column, DataTable } from "../../../components/data-table.tsx";
import { Ago } from "../../../components/figures.tsx";
import { Link } from "../../../components/link.tsx";
import { Section } from "../../../components/page.tsx";
import { StateAndReason } from "../../../components/state-badge.tsx";
import { Loaded } from "../../../components/states.tsx";
import { formatCount, formatShare } from "../../../format/count.ts";
import { formatSpan } from "../../../format/time.ts";
import { path } from "../../../path-builder.ts";
import { operatorHomeTexts as words } from "./texts.ts";

type Provider = Row<"GET /operator/home/providers">;

export function Providers() {
  const providers = useQuery({ ...read("GET /operator/home/providers", {}), refetchInterval: 15_000 });
  return (
    <Section title={words.providers}>
      <Loaded query={providers}>
        {({ data }) => (
          <DataTable
            label={words.providers}
            rows={data}
            rowKey={({ provider }) => provider}
            columns={COLUMNS}
            none={words.noProviders}
          />
        )}
      </Loaded>
    </Section>
  );
}

const COLUMNS: Column<Provider>[] = [
  {
    title: words.columns.provider,
    always: true,
    cell: ({ provider }) => (
      <Link to={path.operator("providers")} size="sm" className="name">
        {provider}
      </Link>
    ),
  },
  {
    title: words.columns.state,
    always: true,
    cell: ({ state, reason, routes, live_routes: live }) => (
      <StateAndReason
        state={state}
        word={words.providerStates[state]}
        reason={words.standing(reason, live, routes)}
      />
    ),
  },
  { title: words.columns.since, cell: ({ since }) => <Ago at={since} never="–" /> },
  {
    title: words.columns.served,
    figures: true,
    always: true,
    order: ({ served }) => served ?? 1,
    cell: ({ served }) => (served === null ? "–" : formatShare(served * 100, 100)),
  },
  {
    title: words.columns.firstToken,
    figures: true,
    order: ({ first_part_ms_p50: ms }) => ms ?? 0,
    cell: ({ first_part_ms_p50: ms }) => (ms === null ? "–" : formatSpan(ms)),
  },
  {
    title: words.columns.attempts,
    figures: true,
    order: ({ attempts }) => attempts,
    cell: ({ attempts }) => formatCount(attempts),
  },
  {
    title: words.columns.failed,
    figures: true,
    order: ({ failed }) => failed,
    cell: ({ failed }) => formatCount(failed),
  },
  {
    title: words.columns.error,
    cell: ({ error }) => (error === null ? "–" : error.replaceAll("_", " ")),
  },
];
