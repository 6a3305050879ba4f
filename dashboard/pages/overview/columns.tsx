// The columns of the overview's tables: each first cell links to what is behind its row.
import type { TimeRange } from "../../../src/domain/usage-words.ts";
import type { Answer } from "../../api/routes.ts";
import { Change } from "../../components/change.tsx";
import type { Column } from "../../components/data-table.tsx";
import { Ago, Money } from "../../components/figures.tsx";
import { Link } from "../../components/link.tsx";
import { StateAndReason } from "../../components/state-badge.tsx";
import { formatCount } from "../../format/count.ts";
import { path } from "../../path-builder.ts";
import { chargedTexts } from "../../components/texts.ts";
import { overviewTexts as words } from "./texts.ts";

type Overview = Answer<"GET /orgs/{org}/overview">;

const requests = {
  title: chargedTexts.requests,
  figures: true,
  cell: (row: { requests: number }) => formatCount(row.requests),
};
const spend = {
  title: words.spend,
  figures: true,
  always: true,
  cell: (row: { charge_usd: string }) => <Money usd={row.charge_usd} />,
};
const change = {
  title: words.change,
  figures: true,
  cell: ({ percent, before_usd }: { percent: string | null; before_usd: string }) => (
    <Change percent={percent} before={before_usd} />
  ),
};

export const modelsOf = (org: string, range: TimeRange): Column<Overview["top_models"][number]>[] => [
  {
    title: words.model,
    always: true,
    cell: ({ model }) => (
      <Link to={path.organization(org, "usage")} search={{ range, model }} size="sm" className="name">
        {model}
      </Link>
    ),
  },
  requests,
  spend,
  change,
];
export const keysOf = (org: string, range: TimeRange): Column<Overview["top_keys"][number]>[] => [
  {
    title: words.key,
    always: true,
    cell: ({ key, name }) => (
      <Link to={path.organization(org, "usage")} search={{ range, key }} size="sm" className="name">
        {name}
      </Link>
    ),
  },
  requests,
  spend,
  change,
];
export const routesOf = (org: string): Column<Overview["routes"][number]>[] => [
  {
    title: words.model,
    always: true,
    cell: ({ model }) => (
      <Link to={path.organization(org, "models")} search={{ search: model }} size="sm" className="name">
        {model}
      </Link>
    ),
  },
  { title: words.provider, cell: ({ provider, region }) => `${provider} · ${region}` },
  {
    title: words.state,
    always: true,
    cell: (route) => <StateAndReason {...route} />,
  },
  { title: words.expires, cell: ({ expires_at }) => <Ago at={expires_at} /> },
];
