// One request, whole: what it cost and why, the calls that were made for it, its key, its route, its receipt.
import { Button, Code, Drawer, Group, Stack, Table, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { read } from "../../api/read.ts";
import { type Answer, type Row, addressOf } from "../../api/routes.ts";
import { Copyable } from "../../components/copy.tsx";
import { ExactMoney, Time } from "../../components/figures.tsx";
import { Link } from "../../components/link.tsx";
import { download } from "../../components/secret-dialog.tsx";
import { NextStep } from "../../components/next-step.tsx";
import { StateBadge } from "../../components/state-badge.tsx";
import { Loaded } from "../../components/states.tsx";
import { formatCount } from "../../format/count.ts";
import { exactMoney, isZero, subMoney } from "../../format/money.ts";
import { formatSpan, receivedAt } from "../../format/time.ts";
import { useStepKeys } from "../../keyboard.tsx";
import { activityStateNames } from "../../components/texts.ts";
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
          <Headline of={found} org={org} />
          <Refund of={found.row} />
          {found.arithmetic !== null && <Arithmetic of={found.arithmetic} />}
          {found.arithmetic === null && found.request !== null && <Held of={found.request} />}
          {found.request === null && <AskedFor of={found.row} />}
          {found.request !== null && <Timeline of={found.request} />}
          {found.request !== null && found.request.attempts.length > 0 && (
            <Attempts of={found.request} judged={found.attempts} />
          )}
          {found.idempotency !== null && <Idempotency of={found.idempotency} />}
          {found.route !== null && <Route of={found.route} />}
          {found.request !== null && <Raw org={org} of={found.request} />}
        </Stack>
      )}
    </Loaded>
  );
}

const Part = ({ title, children }: { title: string; children: ReactNode }) => (
  <Stack gap={6} component="section" aria-label={title}>
    <Title order={3} size="h5">
      {title}
    </Title>
    {children}
  </Stack>
);

const Headline = ({ of: { row, sentence, advice }, org }: { of: RequestDetail; org: string }) => (
  <Stack gap="xs">
    <Group gap="xs">
      <StateBadge state={row.state} word={activityStateNames[row.state]} />
      {row.status !== null && <Code>{row.status}</Code>}
      {row.code !== null && <Code>{row.code}</Code>}
      {row.code !== null && <NextStep code={row.code} of={{ org, key: row.key.id, model: row.model }} />}
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
      {row.model ?? (row.requests === 1 ? words.noModel : words.severalModels)} · {row.key.name} ·{" "}
      <Time at={row.at} />
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

const Arithmetic = ({ of }: { of: NonNullable<RequestDetail["arithmetic"]> }) => (
  <Part title={words.cost}>
    <Table fz="sm" withRowBorders={false} verticalSpacing={2}>
      <Table.Tbody>
        {of.lines.map(({ name, tokens, usd_per_million, amount_usd }) => (
          <Sum
            key={name}
            label={`${words.lines[name]}: ${formatCount(tokens)} × ${exactMoney(usd_per_million)} / 1 M`}
            usd={amount_usd}
          />
        ))}
        <Sum label={words.sum} usd={of.sum_usd} />
        <Sum label={of.minimum_applied ? words.minimumApplied : words.minimumNot} usd={of.minimum_usd} />
        <Sum label={words.charged} usd={of.charge_usd} strong />
        <Sum label={words.held} usd={of.hold_usd} />
        <Sum label={words.returned} usd={of.returned_usd} />
        {!isZero(of.variance_usd) && <Sum label={words.variance} usd={of.variance_usd} />}
      </Table.Tbody>
    </Table>
    <Text size="xs" c="dimmed">
      {words.evidence[of.evidence ?? "none"]} {words.priceOf(of.release_version)}
    </Text>
  </Part>
);

/** Without any usage there is no price to work out: what was held, and where it is now. */
const Held = ({ of }: { of: Request }) => (
  <Part title={words.cost}>
    <Table fz="sm" withRowBorders={false} verticalSpacing={2}>
      <Table.Tbody>
        <Sum label={words.held} usd={of.hold_usd} />
        {of.state !== "running" && (
          <>
            <Sum label={words.charged} usd={of.charge_usd} strong />
            <Sum label={words.returned} usd={subMoney(of.hold_usd, of.charge_usd)} />
            {!isZero(of.variance_usd) && <Sum label={words.variance} usd={of.variance_usd} />}
          </>
        )}
      </Table.Tbody>
    </Table>
    <Text size="xs" c="dimmed">
      {of.state === "running" ? words.stillHeld : words.nothingUsed}
    </Text>
  </Part>
);

/** Of a request that held nothing: how often, what it asked for, and the figures that decided. */
const AskedFor = ({ of: { asked, details, model, requests, last_at, state } }: { of: ActivityRow }) => (
  <Part title={words.askedFor}>
    {requests > 1 && (
      <Text size="sm">
        {words.alike(formatCount(requests))} {last_at !== null && <Time at={last_at} />}
      </Text>
    )}
    {model === null && <Text size="sm">{requests === 1 ? words.modelNotRead : words.modelsDiffer}</Text>}
    {asked === null ? (
      model !== null && <Text size="sm">{state === "refused" ? words.notPriced : words.notRecorded}</Text>
    ) : (
      <>
        <Text size="sm">
          {words.askedPrompt(formatCount(asked.prompt_tokens), asked.prompt_counted === true)}{" "}
          {words.askedOutput(formatCount(asked.output_tokens))}
        </Text>
        <Table fz="sm" withRowBorders={false} verticalSpacing={2}>
          <Table.Tbody>
            <Sum label={words.wouldHold} usd={asked.hold_usd} />
          </Table.Tbody>
        </Table>
      </>
    )}
    {details !== null && (
      <Table fz="sm" withRowBorders={false} verticalSpacing={2}>
        <Table.Tbody>
          {Object.entries(details).map(([name, value]) => (
            <Table.Tr key={name}>
              <Table.Td pl={0}>
                <Code>{name}</Code>
              </Table.Td>
              <Table.Td pr={0} ta="right" className="figures name">
                {value ?? "–"}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    )}
  </Part>
);

const Sum = ({ label, usd, strong = false }: { label: string; usd: string; strong?: boolean }) => (
  <Table.Tr fw={strong ? 700 : 400}>
    <Table.Td pl={0}>{label}</Table.Td>
    <Table.Td pr={0} ta="right">
      <ExactMoney usd={usd} />
    </Table.Td>
  </Table.Tr>
);

type Request = NonNullable<RequestDetail["request"]>;

const Timeline = ({ of }: { of: Request }) => (
  <Part title={words.timeline}>
    <Table fz="sm" withRowBorders={false} verticalSpacing={2}>
      <Table.Tbody>
        {stepsOf(of).map(({ step, span }) => (
          <Table.Tr key={step}>
            <Table.Td pl={0}>{step}</Table.Td>
            <Table.Td pr={0} ta="right" className="figures">
              {span}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
    <Text size="xs" c="dimmed">
      {of.stream ? words.streamed : words.whole}
      {of.finish_reason !== null && ` · ${words.finished(of.finish_reason)}`}. {words.since}
    </Text>
    <Text size="xs" c="dimmed">
      {words.bounds(formatCount(of.bounds.prompt_tokens), formatCount(of.bounds.output_tokens))}
    </Text>
  </Part>
);

/** Each step, counted from the arrival. The first call goes out once the hold is durable. */
function stepsOf({ id, admitted_at, attempts, timings }: Request): { step: string; span: string }[] {
  const arrived = receivedAt(id) ?? Date.parse(admitted_at);
  const held = Date.parse(admitted_at);
  const durable = Date.parse(attempts[0]?.started_at ?? admitted_at);
  const calls = attempts.map(({ n, started_at }) => ({
    step: words.steps.call(n),
    at: Date.parse(started_at),
  }));
  const later = (step: string, ms: number | null) => (ms === null ? [] : [{ step, at: durable + ms }]);
  return [
    { step: words.steps.held, at: held },
    ...calls,
    ...later(words.steps.first, timings.first_part_ms),
    ...later(words.steps.last, timings.total_ms),
  ].map(({ step, at }) => ({ step, span: formatSpan(Math.max(0, at - arrived)) }));
}

interface AttemptsProps {
  of: Request;
  judged: RequestDetail["attempts"];
}

const Attempts = ({ of: { attempts }, judged }: AttemptsProps) => (
  <Part title={words.attempts}>
    {attempts.map((attempt) => (
      <Stack key={attempt.n} gap={2}>
        <Group gap="xs">
          <Text size="sm" className="name">
            {attempt.n}. {attempt.route}
          </Text>
          <StateBadge state={attempt.outcome} />
          <Text size="sm" c="dimmed" className="name">
            {[attempt.status, attempt.error_class, formatSpan(attempt.ms), attempt.upstream_id]
              .filter((one) => one !== null)
              .join(" · ")}
          </Text>
        </Group>
        {attempt.words !== null && (
          <Text size="xs" className="name">
            {words.providerSaid} <Code>{attempt.words}</Code>
          </Text>
        )}
        {judged
          .filter(({ n }) => n === attempt.n)
          .map(({ n, reason, paid_by }) => (
            <Text key={n} size="xs" className="name">
              {reason} {paid_by !== null && words.paidBy[paid_by]}
            </Text>
          ))}
      </Stack>
    ))}
  </Part>
);

const Idempotency = ({ of }: { of: NonNullable<RequestDetail["idempotency"]> }) => (
  <Part title={words.idempotency}>
    <Text size="sm" className="name">
      {of.key} · {of.caller_supplied ? words.fromCaller : words.generated}
    </Text>
    {of.caller_supplied && (
      <Text size="sm">
        {words.keyStates[of.state]} {of.until !== null && <Time at={of.until} />}
      </Text>
    )}
    {of.replays.map(({ id, at, waited_ms }) => (
      <Text key={id} size="sm">
        {words.replayed} <Time at={at} />
        {waited_ms !== null && `, ${words.waited(formatSpan(waited_ms))}`}, <ExactMoney usd="0" />
      </Text>
    ))}
    {of.content_hash !== null && (
      <Text size="xs" c="dimmed" className="name">
        {words.contentHash} <Code>{of.content_hash}</Code>
      </Text>
    )}
  </Part>
);

const Route = ({ of }: { of: NonNullable<RequestDetail["route"]> }) => (
  <Part title={words.route}>
    <Text size="sm" className="name">
      {of.route} · {words.version(of.release_version)} · {of.tier}
    </Text>
    <Text size="xs" c="dimmed" className="name">
      {words.signedBy} {of.signed_by} · {words.issued} <Time at={of.issued_at} /> · {words.expires}{" "}
      <Time at={of.expires_at} />
    </Text>
    <Text size="xs" c="dimmed" className="name">
      {words.digest} <Code>{of.digest}</Code>
    </Text>
  </Part>
);

function Raw({ org, of }: { org: string; of: Request }) {
  const json = JSON.stringify(of.gateway, null, 2);
  return (
    <Part title={words.raw}>
      <Code block className="name">
        {json}
      </Code>
      <Group>
        <Button
          size="compact-sm"
          variant="default"
          onClick={() =>
            download(`${JSON.stringify(of, null, 2)}\n`, { name: `${of.id}.json`, type: "application/json" })
          }
        >
          {words.download}
        </Button>
        {of.state !== "running" && (
          <Button
            component="a"
            size="compact-sm"
            variant="default"
            href={addressOf("GET /orgs/{org}/activity/{request}/receipt", { org, request: of.id })}
            download={`receipt-${of.id}.json`}
          >
            {words.receipt}
          </Button>
        )}
        <Text size="xs" c="dimmed">
          {words.notStored}
        </Text>
      </Group>
    </Part>
  );
}
