// A state as text and icon; its colour only repeats them.
import { Badge, Stack, Text } from "@mantine/core";
import { Icon, type IconName } from "./icon.tsx";

type Tone = "good" | "bad" | "waiting" | "warning" | "neutral";
const COLOURS: Record<Tone, string> = {
  good: "green",
  bad: "red",
  waiting: "indigo",
  warning: "yellow",
  neutral: "gray",
};
/** In dark mode the tint of grey is darker than the page. */
const NEUTRAL = "light-dark(var(--mantine-color-gray-1), var(--mantine-color-dark-5))";
const ICONS: Record<Tone, IconName> = {
  good: "check",
  bad: "cross",
  waiting: "clock",
  warning: "warning",
  neutral: "dash",
};

/** One word per state, everywhere the same. */
const TONES: Record<string, Tone> = {
  active: "good",
  live: "good",
  settled: "good",
  credited: "good",
  answered: "good",
  closed: "good",
  ok: "good",
  delivered: "good",
  paid: "good",
  accepted: "good",
  running: "waiting",
  requested: "waiting",
  waiting: "waiting",
  pending: "waiting",
  open: "waiting",
  half_open: "waiting",
  replay: "neutral",
  released: "neutral",
  revoked: "neutral",
  expired: "neutral",
  declined: "neutral",
  withdrawn: "neutral",
  not_executed: "neutral",
  cut_short: "warning",
  limit: "warning",
  paused: "waiting",
  warning: "warning",
  stale: "warning",
  partly_live: "warning",
  unhealthy: "bad",
  disabled: "neutral",
  refused: "warning",
  indeterminate: "warning",
  outcome_unknown: "warning",
  unknown: "warning",
  failed: "bad",
  broken: "bad",
};

export function StateBadge({ state, word }: { state: string; word?: string | undefined }) {
  const tone = TONES[state] ?? "neutral";
  return (
    <Badge
      variant="light"
      color={COLOURS[tone]}
      c={`var(--tone-${tone})`}
      leftSection={<Icon name={ICONS[tone]} size={12} />}
      bg={tone === "neutral" ? NEUTRAL : undefined}
      tt="none"
      fw={600}
      miw="max-content"
      style={{ flex: "none" }}
    >
      {word ?? state.replaceAll("_", " ")}
    </Badge>
  );
}

/** With the reason in small print below it. */
export const StateAndReason = ({
  state,
  word,
  reason,
}: {
  state: string;
  word?: string | undefined;
  reason: string | null;
}) => (
  <Stack gap={2} align="flex-start">
    <StateBadge state={state} word={word} />
    {reason !== null && (
      <Text size="xs" c="dimmed" className="name">
        {reason}
      </Text>
    )}
  </Stack>
);
