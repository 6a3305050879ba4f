// The columns of the routes: what each one is, whether it serves and why not, what it costs, how its last calls went,
// and the operator's actions.
import { ActionIcon, Menu, Stack, Text } from "@mantine/core";
import type { Row } from "../../../api/routes.ts";
import type { Column } from "../../../components/data-table.tsx";
import { Ago } from "../../../components/figures.tsx";
import { Icon } from "../../../components/icon.tsx";
import { StateBadge } from "../../../components/state-badge.tsx";
import { circuitNames } from "../../../components/texts.ts";
import { formatShare } from "../../../format/count.ts";
import { exactMoney, isZero } from "../../../format/money.ts";
import { formatSpan, formatTime } from "../../../format/time.ts";
import { Expiry, ExpiryLine } from "./expiry.tsx";
import { operatorRoutesTexts as words } from "./texts.ts";

type OperatedRoute = Row<"GET /operator/routes">;

/** The action an operator is about to take. */
export type Act =
  | { kind: "publish" }
  | { kind: "rates"; model: string }
  | { kind: "disable" | "enable"; route: string };

const priceOf = ({ price }: OperatedRoute): string =>
  price === null
    ? words.untold
    : `${exactMoney(price.input_per_million)} / ${isZero(price.output_per_million) ? "–" : exactMoney(price.output_per_million)}`;

interface ColumnTerms {
  setAct: (act: Act) => void;
  showHistory: (route: string) => void;
}

export const routeColumns = ({ setAct, showHistory }: ColumnTerms): Column<OperatedRoute>[] => [
  {
    title: words.columns.route,
    always: true,
    order: ({ route }) => route,
    cell: (row) => <RouteCell of={row} />,
  },
  {
    title: words.columns.state,
    always: true,
    order: ({ state }) => state,
    cell: (row) => <StateCell of={row} />,
  },
  {
    title: words.columns.price,
    figures: true,
    saidFirst: true,
    cell: priceOf,
  },
  {
    title: words.columns.expires,
    saidFirst: true,
    order: ({ expires_at }) => expires_at ?? "",
    cell: (row) => <Expiry of={row} />,
  },
  {
    title: words.columns.release,
    cell: (row) => <ReleaseCell of={row} />,
  },
  {
    title: words.columns.circuit,
    cell: (row) => <CircuitCell of={row} />,
  },
  {
    title: words.columns.recent,
    figures: true,
    cell: (row) => <RecentCell of={row} />,
  },
  {
    title: words.columns.actions,
    acts: true,
    always: true,
    cell: (row) => <RouteMenu of={row} setAct={setAct} showHistory={showHistory} />,
  },
];

/** The model, its provider, region and service tier; on a narrow screen also its price and its expiry. */
const RouteCell = ({ of: row }: { of: OperatedRoute }) => (
  <Stack gap={0}>
    <Text size="sm" fw={600} className="name">
      {row.model ?? row.route}
    </Text>
    <Text size="xs" c="dimmed" className="name">
      {[row.provider, row.region, row.tier].filter((one) => one !== null).join(" · ")}
    </Text>
    {row.price !== null && (
      <Text size="xs" c="dimmed" className="name" hiddenFrom="sm">
        {words.perMillion(priceOf(row))}
      </Text>
    )}
    <ExpiryLine of={row} />
  </Stack>
);

const whyClosed = (reason: string | null): string | null =>
  reason === "unreadable" || reason === "unknown_terms" ? words.closed[reason] : reason;

/** "Since" for a state that still holds. */
const Since = ({ at, live }: { at: string; live: boolean }) =>
  live ? (
    <span title={formatTime(at)}>{words.liveFor(formatSpan(Date.now() - Date.parse(at)))}</span>
  ) : (
    <Ago at={at} />
  );

/** Whether it serves, why not, and since when. */
const StateCell = ({ of: { state, reason, since } }: { of: OperatedRoute }) => (
  <Stack gap={2}>
    <StateBadge state={state} />
    {(reason !== null || since !== null) && (
      <Text size="xs" c="dimmed" className="name">
        {whyClosed(reason)}
        {reason !== null && since !== null && " · "}
        {since !== null && <Since at={since} live={state === "live"} />}
      </Text>
    )}
  </Stack>
);

const ReleaseCell = ({ of: { version, highest_version, signed_by } }: { of: OperatedRoute }) => (
  <Stack gap={0}>
    <span>
      {version === highest_version ? words.version(version) : words.behind(version, highest_version)}
    </span>
    {signed_by !== null && (
      <Text size="xs" c="dimmed" className="figures" title={signed_by}>
        {words.signedBy(signed_by.slice(0, 8))}
      </Text>
    )}
  </Stack>
);

/** An open circuit keeps requests away; nothing is wrong with a closed one. */
const CIRCUITS = { closed: "ok", open: "unhealthy", half_open: "half_open" } as const;

const CircuitCell = ({ of: { state, health } }: { of: OperatedRoute }) => (
  <Stack gap={2} align="flex-start">
    {/* A route that is not live gets no requests, however well its last calls went. */}
    {state === "live" || health.circuit !== "closed" ? (
      <StateBadge state={CIRCUITS[health.circuit]} word={circuitNames[health.circuit]} />
    ) : (
      "–"
    )}
    {health.failures > 0 && (
      <Text size="xs" c="dimmed">
        {words.circuit(health.failures)}
      </Text>
    )}
  </Stack>
);

/** How its last calls went. */
const RecentCell = ({ of: { recent } }: { of: OperatedRoute }) => (
  <Stack gap={0} align="flex-end">
    <span>{words.requests(recent.requests)}</span>
    {recent.requests > 0 && (
      <Text size="xs" c="dimmed">
        {words.errors(formatShare(recent.error_rate * 100, 100))}
        {recent.first_part_ms_p50 !== null && ` · ${formatSpan(recent.first_part_ms_p50)}`}
      </Text>
    )}
  </Stack>
);

const RouteMenu = ({
  of: { route, model, state },
  setAct,
  showHistory,
}: ColumnTerms & { of: OperatedRoute }) => (
  <Menu position="bottom-end" withinPortal>
    <Menu.Target>
      <ActionIcon variant="subtle" color="gray" aria-label={words.menu(route)}>
        <Icon name="down" />
      </ActionIcon>
    </Menu.Target>
    <Menu.Dropdown>
      <Menu.Item onClick={() => showHistory(route)}>{words.history}</Menu.Item>
      {model !== null && (
        <Menu.Item onClick={() => setAct({ kind: "rates", model })}>{words.rates}</Menu.Item>
      )}
      {state === "disabled" ? (
        <Menu.Item onClick={() => setAct({ kind: "enable", route })}>{words.enable}</Menu.Item>
      ) : (
        <Menu.Item c="var(--tone-bad)" onClick={() => setAct({ kind: "disable", route })}>
          {words.disable}
        </Menu.Item>
      )}
    </Menu.Dropdown>
  </Menu>
);
