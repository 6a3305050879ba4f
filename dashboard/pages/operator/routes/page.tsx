// Routes and their signed releases: state with its reason, freshness, prices, what ends when; publish, disable, enable.
// Signing is never in the browser: private keys stay with `./tollgate release sign`.
import { Button, Menu, Modal, Stack, Text, ActionIcon } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { read } from "../../../api/read.ts";
import type { Row } from "../../../api/routes.ts";
import { type Column, DataTable } from "../../../components/data-table.tsx";
import { Ago } from "../../../components/figures.tsx";
import { Icon } from "../../../components/icon.tsx";
import { Page } from "../../../components/page.tsx";
import { ModelLimits } from "../../../components/rate-limits.tsx";
import { StateBadge } from "../../../components/state-badge.tsx";
import { Empty, Loaded } from "../../../components/states.tsx";
import { formatShare } from "../../../format/count.ts";
import { isZero } from "../../../format/money.ts";
import { text, useFilters } from "../../../filters.ts";
import { formatSpan, formatTime } from "../../../format/time.ts";
import { circuitNames, operatorPageNames } from "../../../components/texts.ts";
import { operatorRoutesTexts as words } from "./texts.ts";
import { FocusBack } from "../../../components/opener.ts";
import { DisableDialog, EnableDialog } from "./acts.tsx";
import { Calendar, Expiry, ExpiryLine } from "./expiry.tsx";
import { PublishDialog } from "./publish.tsx";
import { History, TrustedKeys } from "./releases.tsx";

type OperatedRoute = Row<"GET /operator/routes">;

/** The route whose releases are shown. */
const SHAPE = { history: text() };
type Act =
  | { kind: "publish" }
  | { kind: "rates"; model: string }
  | { kind: "disable" | "enable"; route: string };

export function RoutesPage() {
  const routes = useQuery({ ...read("GET /operator/routes", {}), refetchInterval: 5_000 });
  const [{ history }, setFilters] = useFilters(SHAPE);
  const [act, setAct] = useState<Act | null>(null);
  const close = (): void => setAct(null);
  const publish = (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setAct({ kind: "publish" })}>
      {words.publish}
    </Button>
  );
  return (
    <Page title={operatorPageNames.routes} lead={words.lead} actions={publish}>
      <Loaded query={routes}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty icon="routes" action={publish}>
              {words.empty}
            </Empty>
          ) : (
            <>
              <DataTable
                label={operatorPageNames.routes}
                rows={data}
                rowKey={({ route }) => route}
                columns={columns({ setAct, showHistory: (route) => setFilters({ history: route }) })}
              />
              <Calendar routes={data} />
            </>
          )
        }
      </Loaded>
      <TrustedKeys routes={routes.data?.data ?? []} />
      {history !== "" && <History route={history} onClose={() => setFilters({ history: "" })} />}
      {act?.kind === "publish" && <PublishDialog onClose={close} />}
      {act?.kind === "rates" && (
        <Modal opened onClose={close} title={words.ratesOf(act.model)} size="lg">
          <FocusBack />
          <ModelLimits model={act.model} />
        </Modal>
      )}
      {act?.kind === "disable" && <DisableDialog route={act.route} onClose={close} />}
      {act?.kind === "enable" && <EnableDialog route={act.route} onClose={close} />}
    </Page>
  );
}

/** An open circuit keeps requests away; nothing is wrong with a closed one. */
const CIRCUITS = { closed: "ok", open: "unhealthy", half_open: "half_open" } as const;

/** What is still so has been so for a while. */
const Since = ({ at, live }: { at: string; live: boolean }) =>
  live ? (
    <span title={formatTime(at)}>{words.liveFor(formatSpan(Date.now() - Date.parse(at)))}</span>
  ) : (
    <Ago at={at} />
  );

const priceOf = ({ price }: OperatedRoute): string =>
  `$${price.input_per_million} / ${isZero(price.output_per_million) ? "–" : `$${price.output_per_million}`}`;

interface ColumnTerms {
  setAct: (act: Act) => void;
  showHistory: (route: string) => void;
}

const columns = ({ setAct, showHistory }: ColumnTerms): Column<OperatedRoute>[] => [
  {
    title: words.columns.route,
    always: true,
    order: ({ route }) => route,
    cell: (row) => (
      <Stack gap={0}>
        <Text size="sm" fw={600} className="name">
          {row.model}
        </Text>
        <Text size="xs" c="dimmed" className="name">
          {row.provider} · {row.region} · {row.tier}
        </Text>
        <Text size="xs" c="dimmed" className="name" hiddenFrom="sm">
          {words.perMillion(priceOf(row))}
        </Text>
        <ExpiryLine of={row} />
      </Stack>
    ),
  },
  {
    title: words.columns.state,
    always: true,
    order: ({ state }) => state,
    cell: ({ state, reason, since }) => (
      <Stack gap={2}>
        <StateBadge state={state} />
        {(reason !== null || since !== null) && (
          <Text size="xs" c="dimmed" className="name">
            {reason}
            {reason !== null && since !== null && " · "}
            {since !== null && <Since at={since} live={state === "live"} />}
          </Text>
        )}
      </Stack>
    ),
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
    order: ({ expires_at }) => expires_at,
    cell: (row) => <Expiry of={row} />,
  },
  {
    title: words.columns.release,
    cell: ({ version, highest_version, signed_by }) => (
      <Stack gap={0}>
        <span>
          {version === highest_version ? words.version(version) : words.behind(version, highest_version)}
        </span>
        <Text size="xs" c="dimmed" className="figures" title={signed_by}>
          {words.signedBy(signed_by.slice(0, 8))}
        </Text>
      </Stack>
    ),
  },
  {
    title: words.columns.circuit,
    cell: ({ state, health: { circuit, failures } }) => (
      <Stack gap={2} align="flex-start">
        {/* To a route that is not live nothing goes, however well its last calls went. */}
        {state === "live" || circuit !== "closed" ? (
          <StateBadge state={CIRCUITS[circuit]} word={circuitNames[circuit]} />
        ) : (
          "–"
        )}
        {failures > 0 && (
          <Text size="xs" c="dimmed">
            {words.circuit(failures)}
          </Text>
        )}
      </Stack>
    ),
  },
  {
    title: words.columns.recent,
    figures: true,
    cell: ({ recent }) => (
      <Stack gap={0} align="flex-end">
        <span>{words.requests(recent.requests)}</span>
        {recent.requests > 0 && (
          <Text size="xs" c="dimmed">
            {words.errors(formatShare(recent.error_rate * 100, 100))}
            {recent.first_part_ms_p50 !== null && ` · ${formatSpan(recent.first_part_ms_p50)}`}
          </Text>
        )}
      </Stack>
    ),
  },
  {
    title: words.columns.actions,
    acts: true,
    always: true,
    cell: ({ route, model, state }) => (
      <Menu position="bottom-end" withinPortal>
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" aria-label={words.menu(route)}>
            <Icon name="down" />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => showHistory(route)}>{words.history}</Menu.Item>
          <Menu.Item onClick={() => setAct({ kind: "rates", model })}>{words.rates}</Menu.Item>
          {state === "disabled" ? (
            <Menu.Item onClick={() => setAct({ kind: "enable", route })}>{words.enable}</Menu.Item>
          ) : (
            <Menu.Item c="var(--tone-bad)" onClick={() => setAct({ kind: "disable", route })}>
              {words.disable}
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
    ),
  },
];
