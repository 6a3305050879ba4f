// A key's use of its monthly, weekly and daily limits: each is compared with spend plus running holds.
import { Box, Group, Paper, Stack, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";
import type { Answer } from "../../api/routes.ts";
import { Money, Time } from "../../components/figures.tsx";
import { Meter } from "../../components/meter.tsx";
import { addMoney, isZero, percentOf } from "../../format/money.ts";
import { formatDay } from "../../format/time.ts";
import { isOver } from "./state.ts";
import { keysTexts } from "./texts.ts";

const words = keysTexts.one;

type Key = Answer<"GET /orgs/{org}/keys/{key}">;

export const KeyLimits = ({ of }: { of: Key }) => (
  <Paper withBorder p="md" component="section" aria-label={words.limits}>
    <Stack gap="md">
      <Title order={2}>{words.limits}</Title>
      <Span
        title={keysTexts.columns.month}
        limit={of.limit_usd}
        spent={of.month_spend_usd}
        held={of.held_usd}
        resets={null}
      >
        {of.reaches_limit_on !== null && (
          <Text size="sm" fw={600} title={keysTexts.paceHelp}>
            {keysTexts.reaches(formatDay(of.reaches_limit_on))}
          </Text>
        )}
      </Span>
      {(["week", "day"] as const).map((name) => {
        const span = of[name];
        return (
          span !== null && (
            <Span
              key={name}
              title={words[name]}
              limit={of[`${name}_limit_usd`]}
              spent={span.spent_usd}
              held={span.held_usd}
              resets={span.resets_at}
            />
          )
        );
      })}
      {of.left_usd !== null && !isOver(of) && (
        <Text size="sm">
          {words.left} <Money usd={of.left_usd} />
        </Text>
      )}
    </Stack>
  </Paper>
);

interface SpanProps {
  title: string;
  limit: string | null;
  spent: string;
  held: string;
  /** When it starts from zero again; null for the month, where it is obvious. */
  resets: string | null;
  children?: ReactNode;
}

function Span({ title, limit, spent, held, resets, children }: SpanProps) {
  const used = addMoney(spent, held);
  const percent = limit === null ? 0 : percentOf(used, limit);
  return (
    <Box>
      <Group justify="space-between" gap="xs">
        <Text size="sm" c="dimmed">
          {title}
        </Text>
        <Text size="sm" component="span">
          <b>
            <Money usd={used} />
          </b>{" "}
          {limit === null ? (
            words.noLimit
          ) : (
            <>
              {keysTexts.of} <Money usd={limit} />
            </>
          )}
        </Text>
      </Group>
      {limit !== null && <Meter percent={percent} label={keysTexts.ofLimit(percent.toFixed(0))} />}
      <Text size="xs" c="dimmed" mt={4} component="div">
        {!isZero(held) && (
          <>
            {words.held} <Money usd={held} />
            {". "}
          </>
        )}
        {limit !== null && (
          <>
            {words.again} {resets === null ? words.first : <Time at={resets} />}
          </>
        )}
      </Text>
      {children}
    </Box>
  );
}
