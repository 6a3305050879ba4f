// What a key's row and its page both show.
import { Text } from "@mantine/core";
import type { Row } from "../../api/routes.ts";
import { StateBadge } from "../../components/state-badge.tsx";
import { formatDay, formatTime } from "../../format/time.ts";
import { isOver, stateOf } from "./state.ts";
import { keysTexts as words } from "./texts.ts";

type Key = Row<"GET /orgs/{org}/keys">;

/** For an old event: the day is enough, the rest is in the tooltip. */
export const Day = ({ at }: { at: string }) => (
  <Text size="xs" c="dimmed" title={formatTime(at)}>
    {formatDay(at)} UTC
  </Text>
);

const End = ({ at, of }: { at: string; of: Key }) => (
  <Text size="xs" c="dimmed" title={formatTime(at)}>
    {isOver(of) ? formatDay(at) : words.endsOn(formatDay(at))} UTC
  </Text>
);

export function KeyStateBadge({ of }: { of: Key }) {
  const state = stateOf(of);
  return <StateBadge state={state} word={state === "limit" ? words.stateLimit : words.states[state]} />;
}

/** Since when it is over, until when its limit is reached, or when it expires. */
export function StateTime({ of }: { of: Key }) {
  if (of.revoked_at !== null && of.status === "revoked") return <Day at={of.revoked_at} />;
  if (stateOf(of) === "limit") return <Until at={of.resets_at} />;
  return of.expires_at === null ? null : <End at={of.expires_at} of={of} />;
}

const Until = ({ at }: { at: string }) => (
  <Text size="xs" c="dimmed" title={formatTime(at)}>
    {words.until(formatDay(at))} UTC
  </Text>
);

/** Keys outlive the member who made them, so a member who left is marked as such. */
export function Maker({ of }: { of: Key["created_by"] }) {
  if (of === null) return words.noMaker;
  return (
    <span className="name">
      {of.name ?? of.id} {of.left && <StateBadge state="warning" word={words.left} />}
    </span>
  );
}
