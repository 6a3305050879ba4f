// How a request ran: its steps from the arrival on, and the provider calls made for it.
import { Code, Group, Stack, Table, Text } from "@mantine/core";
import type { Answer } from "../../api/routes.ts";
import { StateBadge } from "../../components/state-badge.tsx";
import { formatCount } from "../../format/count.ts";
import { formatSpan, receivedAt } from "../../format/time.ts";
import { Part } from "./drawer-part.tsx";
import { activityTexts as words } from "./texts.ts";

type RequestDetail = Answer<"GET /orgs/{org}/activity/{request}">;
type Request = NonNullable<RequestDetail["request"]>;

export const Timeline = ({ of }: { of: Request }) => (
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

/** Each step, counted from the arrival. The first call is sent once the hold is durable. */
function stepsOf({ id, state, admitted_at, attempts, timings }: Request): { step: string; span: string }[] {
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
    ...later(words.steps.last[state], timings.total_ms),
  ].map(({ step, at }) => ({ step, span: formatSpan(Math.max(0, at - arrived)) }));
}

interface AttemptsProps {
  of: Request;
  judged: RequestDetail["attempts"];
}

export const Attempts = ({ of: { attempts }, judged }: AttemptsProps) => (
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
