// Where a person is signed in; each session can be ended here.
import { Button, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { useChange } from "../../api/change.ts";
import type { Answer } from "../../api/routes.ts";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { ConfirmDialog } from "../../components/dialogs.tsx";
import { Ago, Time } from "../../components/figures.tsx";
import { Section } from "../../components/page.tsx";
import { formatAgent } from "../../format/agent.ts";
import { settingsTexts as words } from "./texts.ts";

type Profile = Answer<"GET /profile">;

type PersonSession = Profile["sessions"][number];

export function Sessions({ of }: { of: readonly PersonSession[] }) {
  const [ended, setEnded] = useState<PersonSession | "others" | null>(null);
  const close = (): void => setEnded(null);
  const others = of.some(({ current }) => !current) && (
    <Button size="compact-sm" variant="default" onClick={() => setEnded("others")}>
      {words.endOthers}
    </Button>
  );
  return (
    <Section title={words.sessions} actions={others}>
      <DataTable label={words.sessions} rows={of} rowKey={({ id }) => id} columns={columns(setEnded)} />
      {ended === "others" && <EndOthers onClose={close} />}
      {ended !== null && ended !== "others" && <End of={ended} onClose={close} />}
    </Section>
  );
}

const columns = (end: (of: PersonSession) => void): Column<PersonSession>[] => [
  {
    title: words.columns.where,
    always: true,
    cell: ({ agent, address, current }) => (
      <Stack gap={0}>
        <Text size="sm" className="name" title={agent ?? undefined}>
          {formatAgent(agent)}
        </Text>
        <Text size="xs" c="dimmed" className="name">
          {address ?? ""} {current && words.thisOne}
        </Text>
      </Stack>
    ),
  },
  { title: words.columns.since, cell: ({ created_at }) => <Time at={created_at} /> },
  { title: words.columns.seen, cell: ({ last_seen_at }) => <Ago at={last_seen_at} /> },
  {
    title: words.columns.actions,
    acts: true,
    always: true,
    cell: (of) =>
      !of.current && (
        <Button
          size="compact-sm"
          variant="default"
          aria-label={words.endTitle(formatAgent(of.agent))}
          onClick={() => end(of)}
        >
          {words.end}
        </Button>
      ),
  },
];

function End({ of, onClose }: { of: PersonSession; onClose: () => void }) {
  const end = useChange("DELETE /profile/sessions/{session}", { session: of.id }, onClose);
  return (
    <ConfirmDialog
      title={words.endTitle(formatAgent(of.agent))}
      action={words.endTitle(formatAgent(of.agent))}
      mutation={end}
      onClose={onClose}
      onConfirm={() => end.mutate({})}
    >
      {words.endHelp}
    </ConfirmDialog>
  );
}

function EndOthers({ onClose }: { onClose: () => void }) {
  const end = useChange("POST /profile/sessions/end-others", {}, onClose);
  return (
    <ConfirmDialog
      title={words.endOthers}
      action={words.endOthers}
      mutation={end}
      onClose={onClose}
      onConfirm={() => end.mutate({})}
    >
      {words.endOthersHelp}
    </ConfirmDialog>
  );
}
