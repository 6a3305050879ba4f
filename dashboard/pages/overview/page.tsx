// How the organization stands: credits with what is held, spend, requests, what was refused and why, what needs a look.
import { Group, SimpleGrid, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { read } from "../../api/read.ts";
import type { Answer } from "../../api/routes.ts";
import { DataTable } from "../../components/data-table.tsx";
import { ExactMoney, Money } from "../../components/figures.tsx";
import { PageButton } from "../../components/page-button.tsx";
import { Page, Section } from "../../components/page.tsx";
import { RangeChoice } from "../../components/range-choice.tsx";
import { Loaded } from "../../components/states.tsx";
import { Tile } from "../../components/tile.tsx";
import { oneOf, useFilters } from "../../filters.ts";
import { formatCount, formatShare } from "../../format/count.ts";
import { isZero } from "../../format/money.ts";
import { addDays, formatSpan, today } from "../../format/time.ts";
import { useMembership } from "../../membership.tsx";
import { path } from "../../path-builder.ts";
import { overviewTexts as words } from "./texts.ts";
import { pageNames } from "../../components/texts.ts";
import { Attention } from "./attention.tsx";
import { keysOf, modelsOf, routesOf } from "./columns.tsx";
import { Refusals } from "./refusals.tsx";
import { SpendChart } from "./spend-chart.tsx";

type Overview = Answer<"GET /orgs/{org}/overview">;

const RANGES = ["24h", "7d", "30d", "month"] as const;
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

interface FiguresProps {
  org: string;
  range: (typeof RANGES)[number];
  of: Overview;
}

function Figures({ org, range, of }: FiguresProps) {
  const { sees } = useMembership();
  const models = useMemo(() => modelsOf(org, range), [org, range]);
  const keys = useMemo(() => keysOf(org, range), [org, range]);
  const routes = useMemo(() => routesOf(org), [org]);
  return (
    <>
      <Attention org={org} of={of} />
      <Steps of={of} />
      <SimpleGrid cols={{ base: 2, md: 4 }} spacing={{ base: "xs", sm: "md" }}>
        <Tile
          title={words.available}
          note={<Held of={of} />}
          {...(sees("billing") && { to: path.organization(org, "billing") })}
        >
          <Money usd={of.balance.available_usd} />
        </Tile>
        <Tile
          title={words.daysLeft}
          note={
            <>
              {words.burn} <Money usd={of.burn_usd_per_day} /> {words.perDay}
            </>
          }
          to={path.organization(org, "usage")}
          search={{ range: "7d" }}
        >
          {printDays(of.days_left)}
        </Tile>
        <Tile
          title={words.today}
          to={path.organization(org, "usage")}
          search={{ from: today(), to: addDays(today(), 1) }}
        >
          <Money usd={of.spend_today_usd} />
        </Tile>
        <Tile title={words.month} to={path.organization(org, "usage")} search={{ range: "month" }}>
          <Money usd={of.spend_month_usd} />
        </Tile>
        <Tile
          title={words.requests}
          note={words.running(formatCount(of.running))}
          to={path.organization(org, "activity")}
          search={{ range }}
        >
          {formatCount(of.requests)}
        </Tile>
        <Tile
          title={words.errors}
          note={words.errorsNote}
          to={path.organization(org, "activity")}
          search={{ range, state: "released" }}
        >
          {of.requests === of.running ? "–" : formatShare(of.error_rate * 100, 100)}
        </Tile>
        <Tile
          title={words.firstToken}
          note={
            of.first_part_ms.p95 === null ? words.noneAnswered : words.p95(formatSpan(of.first_part_ms.p95))
          }
          to={path.organization(org, "activity")}
          search={{ range, state: "settled" }}
        >
          {of.first_part_ms.p50 === null ? "–" : formatSpan(of.first_part_ms.p50)}
        </Tile>
        <Tile
          title={words.refused}
          note={of.refusals.length === 0 ? words.noRefusals : words.byCode}
          to={path.organization(org, "activity")}
          search={{ range, state: "refused" }}
        >
          {formatCount(of.refused)}
        </Tile>
      </SimpleGrid>
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

/** The pace of a first day says nothing about decades. */
const DAYS_AT_MOST = 3650;

const printDays = (days: number | null): string =>
  days === null ? "–" : days > DAYS_AT_MOST ? words.longer : formatCount(days);

const Held = ({ of: { balance } }: { of: Overview }) => (
  <>
    {words.held} <ExactMoney usd={balance.held_usd} />
    {!isZero(balance.debt_usd) && (
      <>
        {" · "}
        {words.debt} <ExactMoney usd={balance.debt_usd} />
      </>
    )}
  </>
);

const STEPS = { key: "keys", first_request: "playground", credits: "billing", invited: "team" } as const;

/** What a new organization has not done yet, as far as it is for this person to do. */
function Steps({ of: { steps } }: { of: Overview }) {
  const { may } = useMembership();
  const mine = {
    key: may("keys.create"),
    first_request: may("play"),
    credits: may("credits.buy"),
    invited: may("team.change"),
  };
  const open = (["key", "first_request", "credits", "invited"] as const).filter(
    (step) => mine[step] && !steps[step],
  );
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
