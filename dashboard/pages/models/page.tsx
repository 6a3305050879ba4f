// The catalogue: what each model costs and can, whether this organization may call it now, and what a call would cost.
import { Group, Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { read } from "../../api/read.ts";
import type { Row } from "../../api/routes.ts";
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
  <Group gap="sm" align="flex-end">
    <SearchField
      label={words.search}
      w={{ base: "100%", sm: 260 }}
      value={filters.search}
      onSearch={(search) => set({ search }, { typed: true })}
    />
    <Choice
      label={words.filters.tier}
      values={TIERS}
      value={filters.tier}
      set={(tier) => set({ tier: SHAPE.tier(tier) })}
    />
    <Choice
      label={words.filters.state}
      values={STATES}
      value={filters.state}
      set={(state) => set({ state: SHAPE.state(state) })}
    />
    <Choice
      label={words.filters.can}
      values={CAPABILITIES}
      words={words.can}
      value={filters.can}
      set={(can) => set({ can: SHAPE.can(can) })}
    />
  </Group>
);

interface ChoiceProps {
  label: string;
  values: readonly string[];
  words?: Readonly<Record<string, string>>;
  value: string;
  set: (value: string | undefined) => void;
}

const Choice = ({ label, values, words: named = {}, value, set }: ChoiceProps) => (
  <Select
    label={label}
    w={140}
    allowDeselect={false}
    value={value}
    onChange={(chosen) => set(chosen ?? undefined)}
    data={[
      { value: "", label: words.filters.all },
      ...values.map((one) => ({ value: one, label: named[one] ?? one })),
    ]}
  />
);
