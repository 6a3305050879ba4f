// The conversation with one model, turn by turn; if the model calls a tool, its result is typed here.
import { Button, Paper, Stack, Text, Textarea, Title } from "@mantine/core";
import { useState } from "react";
import type { Message, ToolCall } from "../../api/chat.ts";
import { Answer } from "../../components/answer.tsx";
import type { Conversation, Turn } from "../../conversation.ts";
import { playgroundTexts as words } from "./texts.ts";

interface SideProps {
  org: string;
  model: string;
  of: Conversation;
  onResults: (results: readonly Message[]) => void;
}

export const Side = ({ org, model, of, onResults }: SideProps) => (
  <Stack gap="md" component="section" aria-label={model} miw={0}>
    <Title order={2} className="name">
      {model}
    </Title>
    {of.turns.map((turn, at) => (
      <OneTurn key={at} org={org} of={turn} />
    ))}
    {of.calls.length > 0 && !of.running && (
      <Results key={of.turns.length} calls={of.calls} onSend={onResults} />
    )}
  </Stack>
);

const OneTurn = ({ org, of: { asked, completion } }: { org: string; of: Turn }) => (
  <Stack gap="sm">
    {asked.map(({ role, content }, at) => (
      <Paper key={at} p="md" bg="var(--mantine-color-default-hover)">
        <Text size="xs" c="dimmed">
          {role === "tool" ? words.toolSaid : words.you}
        </Text>
        <Text size="sm" className="name" style={{ whiteSpace: "pre-wrap" }}>
          {content}
        </Text>
      </Paper>
    ))}
    <Answer of={completion} org={org} />
  </Stack>
);

interface ResultsProps {
  calls: readonly ToolCall[];
  onSend: (results: readonly Message[]) => void;
}

function Results({ calls, onSend }: ResultsProps) {
  const [typed, setTyped] = useState<Record<string, string>>({});
  return (
    <Paper withBorder p="md">
      <Stack gap="sm" align="stretch">
        {calls.map(({ id, function: { name } }) => (
          <Textarea
            key={id}
            label={words.result(name)}
            autosize
            minRows={1}
            maxRows={12}
            value={typed[id] ?? ""}
            onChange={(event) => setTyped({ ...typed, [id]: event.currentTarget.value })}
          />
        ))}
        <div>
          <Button
            disabled={calls.some(({ id }) => (typed[id] ?? "") === "")}
            onClick={() =>
              onSend(calls.map(({ id }) => ({ role: "tool", tool_call_id: id, content: typed[id] ?? "" })))
            }
          >
            {words.sendResults}
          </Button>
        </div>
      </Stack>
    </Paper>
  );
}
