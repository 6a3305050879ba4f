// What the row of a key and its page both show of it.
import { Text } from "@mantine/core";
import type { Row } from "../../api/routes.ts";
import { StateBadge } from "../../components/state-badge.tsx";
import { formatDay, formatTime } from "../../format/time.ts";
import { isOver, stateOf } from "./state.ts";
import { keysTexts as words } from "./texts.ts";

type Key = Row<"GET /orgs/{org}/keys">;

/** Of an act long ago: the day is enough, the rest is in the tooltip. */
export const Day = ({ at }: { at: string }) => (
  <Text size="xs" c="dimmed" title={formatTime(at)}>
    {formatDay(at)} UTC
  </Text>
);

export const End = ({ at, of }: { at: string; of: Key }) => (
  <Text size="xs" c="dimmed" title={formatTime(at)}>
    {isOver(of) ? formatDay(at) : words.endsOn(formatDay(at))} UTC
  </Text>
);

export function KeyStateBadge({ of }: { of: Key }) {
  const state = stateOf(of);
  return (
    <StateBadge
      state={state}
      word={state === "limit" ? words.states.limit(formatTime(of.resets_at)) : words.states[state]}
    />
  );
}

/** Keys outlive the member who made them, so a member who left is named as one. */
export function Maker({ of }: { of: Key["created_by"] }) {
  if (of === null) return words.noMaker;
  return (
    <span className="name">
      {of.name ?? of.id} {of.left && <StateBadge state="warning" word={words.left} />}
    </span>
  );
}
