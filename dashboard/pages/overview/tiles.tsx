// The figures at the head of the overview: current credits, then what was requested in the chosen time.
import { SimpleGrid, Stack, Text } from "@mantine/core";
import type { TimeRange } from "../../../src/domain/usage-words.ts";
import type { Answer } from "../../api/routes.ts";
import { ExactMoney, Money } from "../../components/figures.tsx";
import { Tile } from "../../components/tile.tsx";
import { formatCount, formatShare } from "../../format/count.ts";
import { isZero } from "../../format/money.ts";
import { addDays, formatSpan, today } from "../../format/time.ts";
import { useMembership } from "../../membership.tsx";
import { path } from "../../path-builder.ts";
import { overviewTexts as words } from "./texts.ts";

export type Overview = Answer<"GET /orgs/{org}/overview">;

export interface TilesProps {
  org: string;
  range: TimeRange;
  of: Overview;
}

export function MoneyTiles({ org, of }: Omit<TilesProps, "range">) {
  const { sees } = useMembership();
  return (
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
    </SimpleGrid>
  );
}

export function TrafficTiles({ org, range, of }: TilesProps) {
  return (
    <Stack gap="xs">
      <Text size="sm" c="dimmed">
        {words.within[range]}
      </Text>
      <SimpleGrid cols={{ base: 2, md: 4 }} spacing={{ base: "xs", sm: "md" }}>
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
    </Stack>
  );
}

/** The first day's rate says nothing about decades. */
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
