// When releases expire: the time left for each as a bar with text, and all of them by day.
import { DAY_MS } from "../../../../src/domain/durations.ts";
import { Progress, Stack, Text } from "@mantine/core";
import type { Row } from "../../../api/routes.ts";
import { type Column, DataTable } from "../../../components/data-table.tsx";
import { Ago } from "../../../components/figures.tsx";
import { Section } from "../../../components/page.tsx";
import { Parts } from "../../../components/parts.tsx";
import { StateBadge } from "../../../components/state-badge.tsx";
import { formatDay } from "../../../format/time.ts";
import { operatorRoutesTexts as words } from "./texts.ts";

type OperatedRoute = Row<"GET /operator/routes">;

/** A route whose release can be read, or could be before. */
type Ending = OperatedRoute & { expires_at: string };
const ends = (row: OperatedRoute): row is Ending => row.expires_at !== null;

type Urgency = keyof typeof words.left;
const LOOKS: Record<Urgency, { color: string; state: string }> = {
  over: { color: "red", state: "failed" },
  day: { color: "red", state: "failed" },
  week: { color: "yellow", state: "limit" },
};

/** Null as long as there is time. */
function urgencyOf(expiresAt: string): Urgency | null {
  const leftMs = Date.parse(expiresAt) - Date.now();
  return leftMs <= 0 ? "over" : leftMs < DAY_MS ? "day" : leftMs < 7 * DAY_MS ? "week" : null;
}

const Urgent = ({ of }: { of: Pick<Ending, "expires_at"> }) => {
  const urgency = urgencyOf(of.expires_at);
  return urgency === null ? null : <StateBadge state={LOOKS[urgency].state} word={words.left[urgency]} />;
};

export function Expiry({ of }: { of: OperatedRoute }) {
  if (!ends(of) || of.issued_at === null) return words.untold;
  const [from, to] = [Date.parse(of.issued_at), Date.parse(of.expires_at)];
  const percent = Math.min(100, Math.max(0, ((to - Date.now()) / (to - from)) * 100));
  const urgency = urgencyOf(of.expires_at);
  return (
    <Stack gap={2} align="flex-start">
      <Ago at={of.expires_at} />
      <Progress.Root size="sm" w="100%" miw={80}>
        <Progress.Section
          value={percent}
          color={urgency === null ? "indigo" : LOOKS[urgency].color}
          aria-label={words.lifeLeft(percent.toFixed(0))}
        />
      </Progress.Root>
      <Urgent of={of} />
    </Stack>
  );
}

const TONES: Record<Urgency, string> = {
  over: "var(--tone-bad)",
  day: "var(--tone-bad)",
  week: "var(--tone-warning)",
};

/** The same as a line of the first cell, if its column is folded. */
export function ExpiryLine({ of }: { of: OperatedRoute }) {
  if (!ends(of)) return null;
  const urgency = urgencyOf(of.expires_at);
  return (
    <Text size="xs" c={urgency === null ? "dimmed" : TONES[urgency]} hiddenFrom="sm">
      {urgency === "over" ? words.expired : words.expires} <Ago at={of.expires_at} />
    </Text>
  );
}

interface Day {
  /** `YYYY-MM-DD` */
  day: string;
  routes: Ending[];
}

export function Calendar({ routes }: { routes: readonly OperatedRoute[] }) {
  const days = Map.groupBy(routes.filter(ends).toSorted(byExpiry), ({ expires_at }) =>
    expires_at.slice(0, 10),
  );
  return (
    <Section title={words.calendar}>
      <Text size="sm" c="dimmed">
        {words.calendarLead}
      </Text>
      <DataTable
        label={words.calendar}
        rows={[...days].map(([day, ending]) => ({ day, routes: ending }))}
        rowKey={({ day }) => day}
        columns={COLUMNS}
      />
    </Section>
  );
}

const byExpiry = (a: Ending, b: Ending): number => (a.expires_at < b.expires_at ? -1 : 1);

const COLUMNS: Column<Day>[] = [
  {
    title: words.columns.day,
    always: true,
    cell: ({ day, routes: [first] }) => (
      <Stack gap={2} align="flex-start">
        <span className="figures">{formatDay(day)}</span>
        {first !== undefined && <Urgent of={first} />}
      </Stack>
    ),
  },
  {
    title: words.columns.ends,
    always: true,
    cell: ({ routes }) => (
      <Stack gap={0}>
        {routes.map(({ route, version }) => (
          <Text key={route} size="sm" className="name sentence">
            <Parts of={route} />{" "}
            <Text span c="dimmed">
              {words.version(version)}
            </Text>
          </Text>
        ))}
      </Stack>
    ),
  },
];
