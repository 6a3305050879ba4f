// Settings at the top, the conversation with one model or with two side by side, and the next message.
import { Paper, SimpleGrid, Stack } from "@mantine/core";
import { useMembership } from "../../membership.tsx";
import { Composer } from "./composer.tsx";
import { useDialogue } from "./dialogue.ts";
import { Settings } from "./settings.tsx";
import { Side } from "./side.tsx";
import { type Choices, useTerms } from "./terms.ts";

export function Conversations(choices: Choices) {
  const { org } = useMembership();
  const terms = useTerms(org.id, choices);
  const dialogue = useDialogue(org.id, terms);
  const { pairs, say } = dialogue;
  return (
    <Stack gap="md">
      <Paper withBorder p="md">
        <Settings org={org.id} terms={terms} />
      </Paper>
      {pairs.some(({ with: { turns } }) => turns.length > 0) && (
        <SimpleGrid cols={{ base: 1, md: pairs.length }} spacing="lg">
          {pairs.map((pair, at) => (
            <Side
              key={at}
              org={org.id}
              model={pair.asked.model.id}
              of={pair.with}
              onResults={(results) => void say(pair, results)}
            />
          ))}
        </SimpleGrid>
      )}
      <Composer dialogue={dialogue} terms={terms} />
    </Stack>
  );
}
