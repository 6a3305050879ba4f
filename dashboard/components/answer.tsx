// A streamed answer: progress figures, reasoning (separately), the text, and the outcome.
import { Accordion, Badge, Code, Group, Paper, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { ToolCall } from "../api/chat.ts";
import { read } from "../api/read.ts";
import { type Completion, chargeOf, isRunning } from "../completion.ts";
import { formatCount } from "../format/count.ts";
import { formatSpan } from "../format/time.ts";
import { path } from "../path-builder.ts";
import { answerTexts as words } from "./texts.ts";
import { ExactMoney, Money } from "./figures.tsx";
import { Link } from "./link.tsx";
import { StateBadge } from "./state-badge.tsx";
import { Failure } from "./states.tsx";

export function Answer({ of, org }: { of: Completion; org: string }) {
  const { phase, content, reasoning, error } = of;
  if (phase === "idle") return null;
  return (
    <Stack gap="sm">
      <Progress of={of} org={org} />
      {reasoning !== "" && (
        <Accordion variant="contained" defaultValue="reasoning">
          <Accordion.Item value="reasoning">
            <Accordion.Control>
              <Text size="sm">{words.reasoning}</Text>
            </Accordion.Control>
            <Accordion.Panel>
              <Text size="sm" c="dimmed" className="name" style={{ whiteSpace: "pre-wrap" }}>
                {reasoning.trimStart()}
              </Text>
            </Accordion.Panel>
          </Accordion.Item>
        </Accordion>
      )}
      {content !== "" && (
        <Paper withBorder p="md">
          <Text
            className="name"
            style={{ whiteSpace: "pre-wrap" }}
            aria-live="polite"
            aria-busy={isRunning(of)}
          >
            {content.trimStart()}
          </Text>
        </Paper>
      )}
      {of.calls.map((call) => (
        <Called key={call.id} of={call} />
      ))}
      {(phase === "refused" || phase === "cut" || phase === "unknown") && (
        <Failure error={error} about={{ org }} />
      )}
      {phase === "unknown" && (
        <Text size="sm">
          {words.unknownHelp}{" "}
          <Link
            to={path.organization(org, "activity")}
            search={of.requestId === null ? {} : { req: of.requestId }}
            size="sm"
          >
            {words.unknownWay}
          </Link>
        </Text>
      )}
      {phase === "stopped" && (
        <Text size="sm" c="dimmed">
          {words.stoppedHelp}
        </Text>
      )}
      {of.gateway?.cost !== undefined && <Gateway of={of} />}
    </Stack>
  );
}

const STATES = {
  sending: "waiting",
  waiting: "waiting",
  streaming: "running",
  settled: "settled",
  stopped: "released",
  refused: "refused",
  cut: "cut_short",
  unknown: "outcome_unknown",
} as const;

function Progress({ of, org }: { of: Completion; org: string }) {
  const { phase, heldUsd, parts, firstPartMs, totalMs, usage } = of;
  const now = useElapsed(of);
  if (phase === "idle") return null;
  const charge = chargeOf(of);
  const runMs = (totalMs ?? now) - (firstPartMs ?? 0);
  const tokens = usage?.completion_tokens ?? parts;
  return (
    <Group gap="xs">
      <span role="status">
        <StateBadge state={STATES[phase]} word={words.phases[phase]} />
      </span>
      {heldUsd !== null && (
        <Badge variant="default" tt="none" fw={500}>
          <Money usd={heldUsd} /> {charge === null ? words.held : words.wasHeld}
        </Badge>
      )}
      {charge !== null && (
        <Badge variant="default" tt="none" fw={600}>
          <Money usd={charge} /> {words.charged}
        </Badge>
      )}
      <Text size="xs" c="dimmed" className="figures">
        {firstPartMs === null
          ? `${words.waited} ${formatSpan(totalMs ?? now)}`
          : words.first(formatSpan(firstPartMs))}
      </Text>
      {tokens > 0 && (
        <Text size="xs" c="dimmed" className="figures">
          {words.tokens(formatCount(tokens), usage !== null)}
          {runMs > 200 && ` · ${words.pace(Math.round(tokens / (runMs / 1000)))}`}
        </Text>
      )}
      {phase === "streaming" && of.promptTokens !== null && (
        <CostSoFar org={org} of={of} promptTokens={of.promptTokens} />
      )}
      {totalMs !== null && (
        <Text size="xs" c="dimmed" className="figures">
          {words.total(formatSpan(totalMs))}
        </Text>
      )}
    </Group>
  );
}

/** The cost is requested again only this often, so that a long answer sends a few dozen requests. */
const TOKENS_PER_ESTIMATE = 50;

/** The gateway's price if the answer ended here. */
function CostSoFar({ org, of, promptTokens }: { org: string; of: Completion; promptTokens: number }) {
  const { data } = useQuery(
    read(
      "GET /orgs/{org}/models/estimate",
      { org },
      {
        model: of.model,
        input_tokens: promptTokens,
        cached_tokens: 0,
        output_tokens: Math.ceil(of.parts / TOKENS_PER_ESTIMATE) * TOKENS_PER_ESTIMATE,
      },
    ),
  );
  return data === undefined ? null : (
    <Text size="xs" c="dimmed" className="figures">
      {words.about} <Money usd={data.charge_usd} /> {words.soFar}
    </Text>
  );
}

/** Milliseconds since the start, updated ten times a second while it runs. */
function useElapsed(of: Completion): number {
  const [now, setNow] = useState(0);
  const running = isRunning(of);
  const { startedAtMs } = of;
  useEffect(() => {
    if (!running) return undefined;
    const tick = setInterval(() => setNow(performance.now() - startedAtMs), 100);
    return () => clearInterval(tick);
  }, [running, startedAtMs]);
  return now;
}

const Called = ({ of: { function: called } }: { of: ToolCall }) => (
  <Paper withBorder p="md">
    <Stack gap="xs">
      <Text size="sm" fw={600} className="name">
        {words.calls(called.name)}
      </Text>
      <Code block className="pre" tabIndex={0} role="region" aria-label={words.arguments(called.name)}>
        {pretty(called.arguments)}
      </Code>
    </Stack>
  </Paper>
);

/** Returns the text unchanged if it is not JSON: half a document, or a model's mistake. */
function pretty(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}

function Gateway({ of }: { of: Completion }) {
  const charge = chargeOf(of);
  return (
    <Accordion variant="contained">
      <Accordion.Item value="gateway">
        <Accordion.Control>
          <Text size="sm">
            {words.gateway}
            {charge !== null && of.heldUsd !== null && (
              <>
                : {words.heldThen} <ExactMoney usd={of.heldUsd} />, {words.chargedThen}{" "}
                <ExactMoney usd={charge} />
              </>
            )}
          </Text>
        </Accordion.Control>
        <Accordion.Panel>
          <Code block className="pre" tabIndex={0}>
            {JSON.stringify(of.gateway, null, 2)}
          </Code>
        </Accordion.Panel>
      </Accordion.Item>
    </Accordion>
  );
}
