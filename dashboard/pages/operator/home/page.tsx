// The operator's first page. Each block is requested separately; a slow or failed one does not affect the others.
import { SimpleGrid, Skeleton } from "@mantine/core";
import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { read } from "../../../api/read.ts";
import type { Answer } from "../../../api/routes.ts";
import { Ago, Money } from "../../../components/figures.tsx";
import { Page } from "../../../components/page.tsx";
import { StateBadge } from "../../../components/state-badge.tsx";
import { Loaded, Trouble, Unread } from "../../../components/states.tsx";
import { operatorPageNames } from "../../../components/texts.ts";
import { Tile } from "../../../components/tile.tsx";
import { formatCount, formatShare } from "../../../format/count.ts";
import { formatSpan } from "../../../format/time.ts";
import { path } from "../../../path-builder.ts";
import { Ending } from "./ending.tsx";
import { ModelMargins, marginText } from "./margins.tsx";
import { Providers } from "./providers.tsx";
import { operatorHomeTexts as words } from "./texts.ts";
import { Traffic } from "./traffic.tsx";
import { Waiting } from "./waiting.tsx";

const OFTEN_MS = 15_000;
const SELDOM_MS = 60_000;

export function OperatorHomePage() {
  const traffic = useQuery({ ...read("GET /operator/home/traffic", {}), refetchInterval: SELDOM_MS });
  const margin = useQuery({ ...read("GET /operator/home/margin", {}), refetchInterval: SELDOM_MS });
  const health = useQuery({ ...read("GET /operator/health", {}), refetchInterval: OFTEN_MS });
  return (
    <Page title={operatorPageNames.home} lead={words.lead}>
      <SimpleGrid cols={{ base: 2, md: 4 }} spacing={{ base: "xs", sm: "md" }}>
        <Tiles query={traffic} what={words.parts.traffic} tiles={4}>
          {(of) => <TrafficTiles of={of} />}
        </Tiles>
        <Tiles query={margin} what={words.parts.margin} tiles={2}>
          {(of) => <MarginTiles of={of} />}
        </Tiles>
        <Tiles query={health} what={words.parts.health} tiles={2}>
          {(of) => <HealthTiles of={of} />}
        </Tiles>
      </SimpleGrid>
      {health.data !== undefined && <Trouble query={health} />}
      <Waiting />
      <Providers />
      <Ending />
      {!isUnread(traffic) && <Loaded query={traffic}>{(of) => <Traffic of={of} />}</Loaded>}
      {!isUnread(margin) && <Loaded query={margin}>{(of) => <ModelMargins of={of} />}</Loaded>}
    </Page>
  );
}

const TILE_HEIGHT = 122;

/** Its tiles say so, and once is enough. */
const isUnread = ({ data, error }: UseQueryResult): boolean => data === undefined && error !== null;

interface TilesProps<Data> {
  query: UseQueryResult<Data>;
  /** The name of what could not be read. */
  what: string;
  tiles: number;
  children: (data: Data) => ReactNode;
}

function Tiles<Data>({ query, what, tiles, children }: TilesProps<Data>) {
  if (query.data !== undefined) return children(query.data);
  // As wide as two tiles: on a phone that is the whole line.
  return isUnread(query) ? (
    <Unread what={what} query={query} style={{ gridColumn: "span 2" }} />
  ) : (
    <Places tiles={tiles} />
  );
}

/** Placeholders for tiles, so that nothing below them moves. */
const Places = ({ tiles }: { tiles: number }) =>
  Array.from({ length: tiles }, (_, at) => <Skeleton key={at} height={TILE_HEIGHT} />);

type TrafficNow = Answer<"GET /operator/home/traffic">;

const TrafficTiles = ({ of }: { of: TrafficNow }) => (
  <>
    <Tile title={words.requests} note={beside(of.now.requests, of.before.requests)}>
      {formatCount(of.now.requests)}
    </Tile>
    <Tile title={words.charged} note={words.running(formatCount(of.running))}>
      <Money usd={of.now.charge_usd} />
    </Tile>
    <Tile title={words.errors} note={words.errorsNote}>
      {endedNone(of) ? "–" : formatShare(of.error_rate * 100, 100)}
    </Tile>
    <Tile title={words.refused} note={words.refusedNote}>
      {formatCount(of.refused)}
    </Tile>
  </>
);

/** No request ended: there is nothing to take a share of. */
const endedNone = ({ now, error_rate }: TrafficNow): boolean => now.requests === 0 && error_rate === 0;

/** Compares the two days in words. */
function beside(now: number, before: number): string {
  if (before === 0) return words.nothingBefore;
  const percent = Math.round(((now - before) * 100) / before);
  if (percent === 0) return words.same;
  return percent > 0 ? words.more(`${formatCount(percent)} %`) : words.less(`${-percent} %`);
}

type MarginNow = Answer<"GET /operator/home/margin">;

function marginNote({ margin_percent, models }: MarginNow): string {
  if (models.length === 0) return words.marginNothing;
  return margin_percent === null ? words.marginUnknown : words.marginNote;
}

const MarginTiles = ({ of }: { of: MarginNow }) => (
  <>
    <Tile title={words.margin} note={marginNote(of)}>
      {marginText(of.margin_percent)}
    </Tile>
    <Tile title={words.variance} note={words.varianceNote} to={path.operator("providers")}>
      <Money usd={of.variance_usd} />
    </Tile>
  </>
);

const HealthTiles = ({ of }: { of: Answer<"GET /operator/health"> }) => (
  <>
    <Tile
      title={words.ready}
      note={`${words.up} ${formatSpan(Date.parse(of.now) - Date.parse(of.started_at))}`}
      to={path.operator("health")}
    >
      <StateBadge state={of.ready ? "ok" : "broken"} word={of.ready ? words.readyYes : words.readyNo} />
    </Tile>
    <Tile title={words.backup} note={noteOf(of.backup)} to={path.operator("health")}>
      {of.backup === null ? (
        "–"
      ) : of.backup.last_at === null ? (
        <StateBadge state="warning" word={words.backupNever} />
      ) : (
        <Ago at={of.backup.last_at} />
      )}
    </Tile>
  </>
);

const noteOf = (backup: Answer<"GET /operator/health">["backup"]): string | undefined => {
  if (backup === null) return words.backupElsewhere;
  if (backup.last_at === null) return words.backupHow;
  return backup.overdue ? words.backupOld : undefined;
};
