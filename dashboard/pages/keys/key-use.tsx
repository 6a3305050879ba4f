// A key's use in a time range: charts of spend and refusals, its models, why it was refused, how much of its holds
// was charged. All of it links to its requests in Activity.
import { Button, SimpleGrid, Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { ABOUT_KEY } from "../../../src/domain/refusal-concerns.ts";
import { read } from "../../api/read.ts";
import type { Answer } from "../../api/routes.ts";
import { Money } from "../../components/figures.tsx";
import { Figure } from "../../components/figure.tsx";
import { ButtonLink } from "../../components/link.tsx";
import { Empty, Loaded, Loading } from "../../components/states.tsx";
import { rangeNames, rateTexts } from "../../components/texts.ts";
import { Tile } from "../../components/tile.tsx";
import { formatCount } from "../../format/count.ts";
import { useMembership } from "../../membership.tsx";
import { path } from "../../path-builder.ts";
import { Refusals } from "../overview/refusals.tsx";
import { usageChartOf } from "../usage/buckets.ts";
import { ChartTable } from "../usage/chart-table.tsx";
import { Groups } from "../usage/groups.tsx";
import { HoldUse } from "../usage/hold-use.tsx";
import { summaryOf } from "../usage/summary.ts";
import { RefusalChart } from "./refusal-chart.tsx";
import type { KeyAct } from "./row-menu.tsx";
import { keysTexts } from "./texts.ts";

const words = keysTexts.one;

type Key = Answer<"GET /orgs/{org}/keys/{key}">;
type Usage = Answer<"GET /orgs/{org}/usage">;
type Range = (typeof RANGES)[number];

export const RANGES = ["24h", "7d", "30d"] as const;
/** In the shape of the content that is loading: tiles, a chart, a table. */
const HEIGHT = 480;
const ASKED_EVERY_MS = 60_000;

interface UseProps {
  org: string;
  of: Key;
  range: Range;
  /** Fixes a refusal right here; null if nothing can be done with the key, or not by this person. */
  mend: ((act: KeyAct) => void) | null;
}

export function KeyUse({ org, of, range, mend }: UseProps) {
  const usage = useQuery({
    ...read("GET /orgs/{org}/usage", { org }, { key: of.id, range, group_by: "model" }),
    refetchInterval: ASKED_EVERY_MS,
  });
  const refusals = useQuery({
    ...read("GET /orgs/{org}/keys/{key}/refusals", { org, key: of.id }, { range }),
    refetchInterval: ASKED_EVERY_MS,
  });
  const refused = refusals.data?.refused;
  return (
    <Stack gap="lg">
      <Loaded query={usage} loading={<Loading lines={1} height={HEIGHT} />}>
        {(used) => (
          <>
            <Tiles org={org} of={of} range={range} total={used.total} refused={refused ?? null} />
            {used.total.requests === 0 ? (
              <Nothing org={org} of={of} never={of.last_used_at === null && refused === 0} />
            ) : (
              <Spend org={org} of={of} range={range} used={used} />
            )}
          </>
        )}
      </Loaded>
      <Loaded query={refusals} loading={<Loading lines={1} />}>
        {(found) =>
          found.refused > 0 && (
            <>
              <RefusalChart org={org} keyId={of.id} range={range} of={found} />
              <Refusals
                org={org}
                range={range}
                of={found}
                ofKey={{ id: of.id, mend: (code) => mendingOf(code, mend) }}
              />
            </>
          )
        }
      </Loaded>
      {usage.data !== undefined && usage.data.total.requests > 0 && (
        <HoldUse org={org} asked={{ range, key: of.id }} />
      )}
    </Stack>
  );
}

interface TilesProps extends Omit<UseProps, "mend"> {
  total: Usage["total"];
  /** Null until it is known. */
  refused: number | null;
}

const Tiles = ({ org, of, range, total, refused }: TilesProps) => {
  const activity = path.organization(org, "activity");
  return (
    <SimpleGrid cols={{ base: 2, md: 4 }} spacing={{ base: "xs", sm: "md" }}>
      <Tile title={words.spend} to={path.organization(org, "usage")} search={{ range, key: of.id }}>
        <Money usd={total.charge_usd} />
      </Tile>
      <Tile title={words.requests} to={activity} search={{ range, key: of.id }}>
        {formatCount(total.requests)}
      </Tile>
      <Tile title={words.refused} to={activity} search={{ range, key: of.id, state: "refused" }}>
        {refused === null ? "…" : formatCount(refused)}
      </Tile>
      <Tile
        title={words.heldNow}
        note={words.running(formatCount(of.open_holds))}
        to={activity}
        search={{ key: of.id, state: "running" }}
      >
        <Money usd={of.held_usd} />
      </Tile>
    </SimpleGrid>
  );
};

/** Nothing in this time, or nothing ever. */
function Nothing({ org, of, never }: { org: string; of: Key; never: boolean }) {
  const { may } = useMembership();
  if (!never) return <Empty icon="usage">{words.nothing}</Empty>;
  if (of.status !== "active") return <Empty icon="usage">{words.neverUsed}</Empty>;
  const playground = <ButtonLink to={path.organization(org, "playground")}>{words.try}</ButtonLink>;
  return (
    <Empty icon="usage" action={may("play") ? playground : undefined}>
      {words.neverUsed} {words.howUsed}
    </Empty>
  );
}

function Spend({ org, of, range, used }: Omit<UseProps, "mend"> & { used: Usage }) {
  const navigate = useNavigate();
  const chart = usageChartOf(used, "charge_usd");
  const activity = path.organization(org, "activity");
  return (
    <>
      <Figure
        title={words.spendByModel}
        summary={summaryOf(used, "charge_usd", rangeNames[range])}
        series={chart.series}
        buckets={chart.buckets}
        bucket={used.bucket}
        running={chart.running}
        measured="money"
        height={220}
        table={<ChartTable of={chart} />}
        onPick={(label, series) => {
          const at = used.at.indexOf(chart.startOf.get(label) ?? "");
          const from = used.at[at];
          const model = series === null ? null : (chart.groups[series]?.group ?? null);
          if (from === undefined) return;
          const search = {
            key: of.id,
            from,
            to: used.at[at + 1] ?? used.to,
            ...(model !== null && { model }),
          };
          void navigate({ to: activity, search });
        }}
      />
      <Groups
        of={used}
        activity={activity}
        requestsOf={({ group }) => (group === null ? null : { range, key: of.id, model: group })}
      />
    </>
  );
}

const MENDED_BY: Readonly<Record<string, "edit" | "rates" | "resume">> = {
  key_spend_limit_reached: "edit",
  model_not_allowed: "edit",
  rate_limit_exceeded: "rates",
  api_key_paused: "resume",
};

/** Null for causes other than the key, which have their own remedy. */
function mendingOf(code: string, mend: UseProps["mend"]): ReactNode {
  if (!(ABOUT_KEY as readonly string[]).includes(code)) return null;
  const act = MENDED_BY[code];
  if (act === undefined || mend === null) return false;
  return (
    <Button size="compact-sm" variant="default" onClick={() => mend(act)}>
      {act === "rates" ? rateTexts.title : keysTexts[act]}
    </Button>
  );
}
