// The catalogue: what each model costs and can, whether this organization may call it now, and what a call would cost.
import { useQuery } from "@tanstack/react-query";
import { read } from "../../api/read.ts";
import type { Row } from "../../api/routes.ts";
import { Choice } from "../../components/choice.tsx";
import { FilterRow } from "../../components/filters.tsx";
import { NoMatch } from "../../components/no-match.tsx";
import { Page } from "../../components/page.tsx";
import { SearchField } from "../../components/search-field.tsx";
import { Empty, Loaded } from "../../components/states.tsx";
import { type Filters, oneOf, type SetFilters, text, useFilters } from "../../filters.ts";
import { useMembership } from "../../membership.tsx";
import { modelsTexts as words } from "./texts.ts";
import { pageNames } from "../../components/texts.ts";
import { Card } from "./card.tsx";
import { EstimateCard } from "./estimate.tsx";

type Model = Row<"GET /orgs/{org}/models">;

const TIERS = ["standard", "research"] as const;
const STATES = ["live", "disabled", "unhealthy", "stale"] as const;
const CAPABILITIES = ["tools", "images", "files", "json_schema", "reasoning"] as const;
const SHAPE = {
  search: text(),
  tier: oneOf(["", ...TIERS], ""),
  state: oneOf(["", ...STATES], ""),
  can: oneOf(["", ...CAPABILITIES], ""),
};

export function ModelsPage() {
  const { org } = useMembership();
  const models = useQuery({
    ...read("GET /orgs/{org}/models", { org: org.id }),
    refetchInterval: 15_000,
  });
  const [filters, setFilters] = useFilters(SHAPE);
  return (
    <Page title={pageNames.models} lead={words.lead}>
      <Loaded query={models}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty icon="models">{words.empty}</Empty>
          ) : (
            <>
              <EstimateCard org={org.id} models={data} />
              <ModelFilters filters={filters} set={setFilters} />
              <Cards org={org.id} models={data.filter(matching(filters))} />
            </>
          )
        }
      </Loaded>
    </Page>
  );
}

function Cards({ org, models }: { org: string; models: readonly Model[] }) {
  if (models.length === 0) return <NoMatch />;
  return models.map((model) => <Card key={model.id} org={org} of={model} />);
}

const matching =
  ({ search, tier, state, can }: Filters<typeof SHAPE>) =>
  (model: Model): boolean =>
    (tier === "" || model.tier === tier) &&
    (state === "" || model.state === state) &&
    (can === "" || (can === "reasoning" ? model.reasoning !== null : model[can])) &&
    model.id.toLowerCase().includes(search.toLowerCase());

interface ModelFiltersProps {
  filters: Filters<typeof SHAPE>;
  set: SetFilters<typeof SHAPE>;
}

const ModelFilters = ({ filters, set }: ModelFiltersProps) => (
  <FilterRow>
    <SearchField
      label={words.search}
      value={filters.search}
      onSearch={(search) => set({ search }, { typed: true })}
    />
    <Choice
      label={words.filters.tier}
      value={filters.tier}
      of={SHAPE.tier}
      set={(tier) => set({ tier })}
      data={choices(TIERS)}
    />
    <Choice
      label={words.filters.state}
      value={filters.state}
      of={SHAPE.state}
      set={(state) => set({ state })}
      data={choices(STATES)}
    />
    <Choice
      label={words.filters.can}
      value={filters.can}
      of={SHAPE.can}
      set={(can) => set({ can })}
      data={choices(CAPABILITIES, words.can)}
    />
  </FilterRow>
);

const choices = (values: readonly string[], named: Readonly<Record<string, string>> = {}) => [
  { value: "", label: words.filters.all },
  ...values.map((value) => ({ value, label: named[value] ?? value })),
];
