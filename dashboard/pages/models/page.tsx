// The catalogue: what each model costs and supports, whether this organization may call it now, and what a call would
// cost.
import { Drawer, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { read } from "../../api/read.ts";
import type { Row } from "../../api/routes.ts";
import { Choice } from "../../components/choice.tsx";
import { DataTable } from "../../components/data-table.tsx";
import { FilterRow } from "../../components/filters.tsx";
import { Page } from "../../components/page.tsx";
import { SearchField } from "../../components/search-field.tsx";
import { Empty, Loaded } from "../../components/states.tsx";
import { type Filters, oneOf, type SetFilters, text, useFilters } from "../../filters.ts";
import { useMembership } from "../../membership.tsx";
import { modelsTexts as words } from "./texts.ts";
import { pageNames } from "../../components/texts.ts";
import { Card } from "./card.tsx";
import { modelColumns } from "./columns.tsx";
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
  /** The open model. */
  model: text(),
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
              <ModelFilters filters={filters} set={setFilters} />
              <DataTable
                label={pageNames.models}
                rows={data.filter(matching(filters))}
                rowKey={({ id }) => id}
                columns={modelColumns}
                onOpen={({ id }) => setFilters({ model: id })}
              />
              <Text size="sm" c="dimmed">
                {words.seen}
              </Text>
              <EstimateCard org={org.id} models={data} />
              <ModelDrawer
                of={data.find(({ id }) => id === filters.model)}
                onClose={() => setFilters({ model: "" })}
              />
            </>
          )
        }
      </Loaded>
    </Page>
  );
}

interface ModelDrawerProps {
  /** Undefined: closed. */
  of: Model | undefined;
  onClose: () => void;
}

const ModelDrawer = ({ of, onClose }: ModelDrawerProps) => (
  <Drawer opened={of !== undefined} onClose={onClose} position="right" size="lg" title={words.model}>
    {of !== undefined && <Card of={of} />}
  </Drawer>
);

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
