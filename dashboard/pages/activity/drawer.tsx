// One request in full: what it cost and why, the provider calls made for it, its key, its route, its receipt.
import { Button, Code, Drawer, Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { read } from "../../api/read.ts";
import type { Answer, Row } from "../../api/routes.ts";
import { Copyable } from "../../components/copy.tsx";
import { ExactMoney, Time } from "../../components/figures.tsx";
import { Link } from "../../components/link.tsx";
import { StateBadge } from "../../components/state-badge.tsx";
import { Loaded } from "../../components/states.tsx";
import { formatSpan } from "../../format/time.ts";
import { useStepKeys } from "../../keyboard.tsx";
import { activityStateNames } from "../../components/texts.ts";
import { Arithmetic, AskedFor, Held } from "./drawer-cost.tsx";
import { SendAgain } from "./drawer-acts.tsx";
import { Refused } from "./drawer-refusal.tsx";
import { Idempotency, Raw, Route } from "./drawer-record.tsx";
import { LedgerPart } from "./ledger-part.tsx";
import { Attempts, Timeline } from "./drawer-timeline.tsx";
import { path } from "../../path-builder.ts";
import { activityTexts as words } from "./texts.ts";
import { Refund } from "./refund.tsx";

type ActivityRow = Row<"GET /orgs/{org}/activity">;
type RequestDetail = Answer<"GET /orgs/{org}/activity/{request}">;

interface DrawerProps {
  org: string;
  /** Empty: closed. */
  request: string;
  /** The list behind it, for the arrows. */
  rows: readonly ActivityRow[];
  open: (id: string) => void;
  onClose: () => void;
}

export function RequestDrawer({ org, request, rows, open, onClose }: DrawerProps) {
  const at = rows.findIndex(({ id }) => id === request);
  const beside = (by: -1 | 1): ActivityRow | undefined => (at === -1 ? undefined : rows[at + by]);
  useStepKeys(request !== "", (by) => {
    const next = beside(by);
    if (next !== undefined) open(next.id);
  });
  const step = (by: -1 | 1, label: string): ReactNode => {
    const next = beside(by);
    return (
      <Button
        size="compact-sm"
        variant="default"
        disabled={next === undefined}
        onClick={() => next && open(next.id)}
      >
        {label}
      </Button>
    );
  };
  return (
    <Drawer
      opened={request !== ""}
      onClose={onClose}
      position="right"
      size="lg"
      title={
        <Group gap="xs">
          {words.request} {step(-1, words.newer)} {step(1, words.older)}
        </Group>
      }
    >
      {request !== "" && <Detail org={org} request={request} />}
    </Drawer>
  );
}

function Detail({ org, request }: { org: string; request: string }) {
  const detail = useQuery(read("GET /orgs/{org}/activity/{request}", { org, request }));
  return (
    <Loaded query={detail}>
      {(found) => (
        <Stack gap="lg">
          <Headline org={org} of={found} />
          <SendAgain of={found.row} />
          {found.row.code !== null && <Refused of={found} />}
          <Refund of={found.row} />
          {found.arithmetic !== null && (
            <Arithmetic of={found.arithmetic} refunded={found.request?.refunded_usd ?? "0"} />
          )}
          {found.arithmetic === null && found.request !== null && <Held of={found.request} />}
          {found.request === null && <AskedFor of={found.row} />}
          {found.request !== null && <LedgerPart key={request} org={org} of={found.request} />}
          {found.request !== null && <Timeline of={found.request} />}
          {found.request !== null && found.request.attempts.length > 0 && (
            <Attempts of={found.request} judged={found.attempts} />
          )}
          {found.idempotency !== null && <Idempotency of={found.idempotency} />}
          {found.route !== null && <Route of={found.route} />}
          {found.request !== null && <Raw org={org} of={found.request} detail={found} />}
        </Stack>
      )}
    </Loaded>
  );
}

/** A link to the key's page; requests of several keys have none. */
const KeyOf = ({ org, of }: { org: string; of: RequestDetail["row"]["key"] }) =>
  of.id === "" ? (
    of.name
  ) : (
    <Link to={path.key(org, of.id)} underline="always">
      {of.name}
    </Link>
  );

const Headline = ({ org, of: { row, sentence, advice } }: { org: string; of: RequestDetail }) => (
  <Stack gap="xs">
    <Group gap="xs">
      <StateBadge state={row.state} word={activityStateNames[row.state]} />
      {row.status !== null && <Code>{row.status}</Code>}
      {row.code !== null && <Code>{row.code}</Code>}
      <Text fw={600}>
        <ExactMoney usd={row.charge_usd} />
      </Text>
      {row.total_ms !== null && <Text size="sm">{formatSpan(row.total_ms)}</Text>}
    </Group>
    {sentence !== null && <Text size="sm">{sentence}</Text>}
    {advice !== null && (
      <Text size="sm">
        {words.happened(advice.happened)} <b>{words.next}</b> {words.happened(advice.next)}
      </Text>
    )}
    <Text size="sm" className="name">
      {row.model ?? (row.requests === 1 ? words.noModel : words.severalModels)} ·{" "}
      {row.surface ?? words.severalSurfaces} · <KeyOf org={org} of={row.key} /> · <Time at={row.at} />
    </Text>
    <Copyable text={row.id} />
    {row.replay_of !== null && (
      <Text size="sm">
        {words.replayOf}{" "}
        <Link to="." search={{ req: row.replay_of }}>
          {row.replay_of}
        </Link>
      </Text>
    )}
  </Stack>
);
