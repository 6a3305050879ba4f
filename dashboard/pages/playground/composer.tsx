// The next message: its text, its maximum cost, and the same request as code.
import { Button, Group, Paper, Stack, Text, Textarea } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { CodeTabs } from "../../components/code-tabs.tsx";
import { useMembership } from "../../membership.tsx";
import { Bound } from "./bound.tsx";
import { printCode } from "./code.ts";
import type { Dialogue } from "./dialogue.ts";
import type { Terms } from "./terms.ts";
import { playgroundTexts as words } from "./texts.ts";

export function Composer({ dialogue, terms }: { dialogue: Dialogue; terms: Terms }) {
  const { org, baseUrl } = useMembership();
  const [codeShown, code] = useDisclosure(false);
  const { pairs, running, ready } = dialogue;
  const shown = codeShown ? dialogue.firstRequest() : null;
  return (
    <Paper withBorder p="md">
      <Stack gap="sm">
        <Textarea
          label={words.message}
          description={words.messageHelp}
          autosize
          minRows={3}
          maxRows={16}
          value={dialogue.message}
          onChange={(event) => dialogue.setMessage(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void dialogue.send();
          }}
        />
        <Acts dialogue={dialogue} codeShown={codeShown} toggleCode={code.toggle} />
        {ready &&
          !running &&
          pairs.map(({ asked, with: one }, at) => (
            <Bound
              key={at}
              org={org.id}
              paidBy={terms.key}
              surface={terms.surface}
              request={dialogue.requestTo(asked, one)}
              onAffordable={terms.setMaxTokens}
              named={pairs.length > 1}
            />
          ))}
        {shown !== null && <CodeTabs code={printCode({ baseUrl, surface: terms.surface }, shown)} />}
      </Stack>
    </Paper>
  );
}

interface ActsProps {
  dialogue: Dialogue;
  codeShown: boolean;
  toggleCode: () => void;
}

function Acts({ dialogue, codeShown, toggleCode }: ActsProps) {
  const { running, ready, owed, begun, send, stop, clear } = dialogue;
  return (
    <Group gap="sm">
      {running ? (
        <Button color="red" onClick={stop}>
          {words.stop}
        </Button>
      ) : (
        <Button disabled={!ready} onClick={() => void send()}>
          {words.send}
        </Button>
      )}
      <Button variant="default" onClick={toggleCode} aria-expanded={codeShown}>
        {words.code}
      </Button>
      {begun && !running && (
        <Button variant="default" onClick={clear}>
          {words.clear}
        </Button>
      )}
      {owed && !running && (
        <Text size="sm" c="dimmed">
          {words.resultsFirst}
        </Text>
      )}
    </Group>
  );
}
