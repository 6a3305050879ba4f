// Settings above, the conversation with one model or with two side by side, and what is said next.
import { Button, Group, Paper, SimpleGrid, Stack, Text, Textarea } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Message } from "../../api/chat.ts";
import { CodeTabs } from "../../components/code-tabs.tsx";
import { type Conversation, useConversation } from "../../conversation.ts";
import { useMembership } from "../../membership.tsx";
import { quoteQuery } from "./quote.ts";
import { playgroundTexts as words } from "./texts.ts";
import { Bound } from "./bound.tsx";
import { printCode } from "./code.ts";
import { Settings } from "./settings.tsx";
import { Side } from "./side.tsx";
import { type Asked, type Choices, useTerms } from "./terms.ts";

export function Conversations(choices: Choices) {
  const { org, baseUrl } = useMembership();
  const queries = useQueryClient();
  const terms = useTerms(org.id, choices);
  const [message, setMessage] = useState("");
  const [codeShown, code] = useDisclosure(false);
  const [left, right] = [useConversation(org.id), useConversation(org.id)];
  const pairs: { asked: Asked; with: Conversation }[] = [
    ...(terms.first ? [{ asked: terms.first, with: left }] : []),
    ...(terms.second ? [{ asked: terms.second, with: right }] : []),
  ];
  const running = left.running || right.running;
  const owed = pairs.some(({ with: { calls } }) => calls.length > 0);
  const ready = terms.key !== "" && message.trim() !== "" && terms.toolsProblem === null && !owed;
  const spoken: Message = { role: "user", content: message };
  const say = async ({ asked, with: one }: (typeof pairs)[number], said: readonly Message[]) => {
    const request = terms.bodyOf(asked, [...one.messages, ...said]);
    const paid = { key: terms.key, surface: terms.surface };
    // The bound on screen, if it is of this very request; who sends sooner than it was asked for asks now.
    const promptTokens = queries.ensureQueryData(quoteQuery(org.id, { ...paid, request })).then(
      ({ prompt_tokens_max: bound }) => bound,
      () => null, // then the answer runs without a price, and is charged all the same
    );
    return await one.say(said, { ...paid, request, promptTokens });
  };
  const send = async (): Promise<void> => {
    if (!ready || running) return;
    const ended = await Promise.all(pairs.map((pair) => say(pair, [spoken])));
    // What nobody answered stays in the field, to be sent again.
    if (ended.some(({ phase }) => phase === "settled" || phase === "stopped")) setMessage("");
  };
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
      <Paper withBorder p="md">
        <Stack gap="sm">
          <Textarea
            label={words.message}
            description={words.messageHelp}
            autosize
            minRows={3}
            maxRows={16}
            value={message}
            onChange={(event) => setMessage(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void send();
            }}
          />
          <Group gap="sm">
            {running ? (
              <Button
                color="red"
                onClick={() => {
                  left.stop();
                  right.stop();
                }}
              >
                {words.stop}
              </Button>
            ) : (
              <Button disabled={!ready} onClick={() => void send()}>
                {words.send}
              </Button>
            )}
            <Button variant="default" onClick={code.toggle} aria-expanded={codeShown}>
              {words.code}
            </Button>
            {left.turns.length + right.turns.length > 0 && !running && (
              <Button
                variant="default"
                onClick={() => {
                  left.clear();
                  right.clear();
                }}
              >
                {words.clear}
              </Button>
            )}
            {owed && !running && (
              <Text size="sm" c="dimmed">
                {words.resultsFirst}
              </Text>
            )}
          </Group>
          {ready &&
            !running &&
            pairs.map(({ asked, with: one }, at) => (
              <Bound
                key={at}
                org={org.id}
                paidBy={terms.key}
                surface={terms.surface}
                request={terms.bodyOf(asked, [...one.messages, spoken])}
                onAffordable={terms.setMaxTokens}
                named={pairs.length > 1}
              />
            ))}
          {codeShown && terms.first && (
            <CodeTabs
              code={printCode(
                { baseUrl, surface: terms.surface },
                terms.bodyOf(terms.first, [...left.messages, spoken]),
              )}
            />
          )}
        </Stack>
      </Paper>
    </Stack>
  );
}
