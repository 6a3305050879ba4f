// The state of the organization: credits and holds, spend, requests, refusals and their reasons, what needs
// attention.
import { Group, SimpleGrid, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { RANGES } from "../../../src/domain/usage-words.ts";
import { read } from "../../api/read.ts";
import { DataTable } from "../../components/data-table.tsx";
import { PageButton } from "../../components/page-button.tsx";
import { Page, Section } from "../../components/page.tsx";
import { RangeChoice } from "../../components/range-choice.tsx";
import { Loaded } from "../../components/states.tsx";
import { oneOf, useFilters } from "../../filters.ts";
import { isZero } from "../../format/money.ts";
import { useMembership } from "../../membership.tsx";
import { overviewTexts as words } from "./texts.ts";
import { pageNames } from "../../components/texts.ts";
import { Attention } from "./attention.tsx";
import { keysOf, modelsOf, routesOf } from "./columns.tsx";
import { Refusals } from "./refusals.tsx";
import { SpendChart } from "./spend-chart.tsx";
import { MoneyTiles, type Overview, type TilesProps, TrafficTiles } from "./tiles.tsx";

const SHAPE = { range: oneOf(RANGES, "24h") };

export function OverviewPage() {
  const { org } = useMembership();
  const [{ range }, setFilters] = useFilters(SHAPE);
  const overview = useQuery({
    ...read("GET /orgs/{org}/overview", { org: org.id }, { range }),
    refetchInterval: 15_000,
  });
  return (
    <Page
      title={pageNames.overview}
      lead={words.lead}
      actions={
        <RangeChoice
          ranges={RANGES}
          value={range}
          of={SHAPE.range}
          set={(chosen) => setFilters({ range: chosen })}
        />
      }
    >
      <Loaded query={overview}>{(of) => <Figures org={org.id} range={range} of={of} />}</Loaded>
    </Page>
  );
}

function Figures({ org, range, of }: TilesProps) {
  const models = useMemo(() => modelsOf(org, range), [org, range]);
  const keys = useMemo(() => keysOf(org, range), [org, range]);
  const routes = useMemo(() => routesOf(org), [org]);
  return (
    <>
      <Attention org={org} of={of} />
      <Steps of={of} />
      <MoneyTiles org={org} of={of} />
      <TrafficTiles org={org} range={range} of={of} />
      <SpendChart org={org} range={range} of={of} />
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Section title={words.topModels}>
          <DataTable
            label={words.topModels}
            rows={of.top_models}
            rowKey={({ model }) => model}
            columns={models}
            none={words.nothingSpent}
          />
        </Section>
        <Section title={words.topKeys}>
          <DataTable
            label={words.topKeys}
            rows={of.top_keys}
            rowKey={({ key }) => key}
            columns={keys}
            none={words.nothingSpent}
          />
        </Section>
      </SimpleGrid>
      <Refusals org={org} range={range} of={of} />
      {of.routes.length > 0 && (
        <Section title={words.routes}>
          <DataTable label={words.routes} rows={of.routes} rowKey={({ route }) => route} columns={routes} />
        </Section>
      )}
    </>
  );
}

const STEPS = { key: "keys", first_request: "playground", credits: "billing", invited: "team" } as const;

const IN_ORDER = ["key", "first_request", "credits", "invited"] as const;
/** Without credits the first request would be refused. */
const CREDITS_FIRST = ["key", "credits", "first_request", "invited"] as const;

/** What a new organization has not done yet, as far as this person may do it. */
function Steps({ of: { steps, balance } }: { of: Overview }) {
  const { may } = useMembership();
  const mine = {
    key: may("keys.create"),
    first_request: may("play"),
    credits: may("credits.buy"),
    invited: may("team.change"),
  };
  const order = isZero(balance.available_usd) ? CREDITS_FIRST : IN_ORDER;
  const open = order.filter((step) => mine[step] && !steps[step]);
  if (open.length === 0) return null;
  return (
    <Group gap="xs">
      <Text size="sm" c="dimmed">
        {words.next}
      </Text>
      {open.map((step) => (
        <PageButton key={step} size="compact-sm" variant="light" page={STEPS[step]}>
          {words.steps[step]}
        </PageButton>
      ))}
    </Group>
  );
}
