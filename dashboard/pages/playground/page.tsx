// A request like any program's, paid by a key of the organization: the bound before it is sent, the stream with its
// reasoning apart, the exact charge after.
import {
  Button,
  Code,
  Collapse,
  Group,
  NumberInput,
  Paper,
  Select,
  Stack,
  Text,
  Textarea,
} from "@mantine/core";
import { useDebouncedValue, useDisclosure } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type Key, keysQuery } from "../../api/keys.ts";
import { type Model, modelsQuery } from "../../api/models.ts";
import { quoteQuery } from "../../api/playground.ts";
import { Answer } from "../../components/answer.tsx";
import { Money } from "../../components/figures.tsx";
import { ButtonLink } from "../../components/link.tsx";
import { Page } from "../../components/page.tsx";
import { Refused } from "../../components/refused.tsx";
import { Empty, Loaded } from "../../components/states.tsx";
import { isRunning, useCompletion } from "../../completion.ts";
import { text, useFilters } from "../../filters.ts";
import { useMembership } from "../../membership.tsx";
import { path } from "../../path-builder.ts";
import { texts } from "../../texts.ts";
import { printCurl } from "./code.ts";

const words = texts.playground;
const SHAPE = { model: text() };

export function PlaygroundPage() {
  const { org } = useMembership();
  const models = useQuery(modelsQuery(org.id));
  const keys = useQuery(keysQuery(org.id));
  return (
    <Page title={texts.pages.playground} lead={words.lead}>
      <Loaded query={models}>
        {({ data: catalogue }) => (
          <Loaded query={keys}>
            {({ data }) => {
              const active = data.filter(({ status }) => status === "active");
              return active.length === 0 ? (
                <Empty
                  icon="keys"
                  action={<ButtonLink to={path.organization(org.id, "keys")}>{words.createKey}</ButtonLink>}
                >
                  {words.noKey}
                </Empty>
              ) : (
                <Desk models={catalogue} keys={active} />
              );
            }}
          </Loaded>
        )}
      </Loaded>
    </Page>
  );
}

function Desk({ models, keys }: { models: readonly Model[]; keys: readonly Key[] }) {
  const { org, baseUrl } = useMembership();
  const [{ model: asked }, setFilters] = useFilters(SHAPE);
  const model = models.find(({ id }) => id === asked) ?? models[0];
  const [key, setKey] = useState(keys[0]?.id ?? "");
  const [system, setSystem] = useState("");
  const [message, setMessage] = useState("");
  const [effort, setEffort] = useState<string | null>(null);
  const [maxTokens, setMaxTokens] = useState<number | null>(512);
  const [codeShown, code] = useDisclosure(false);
  const { completion, start, stop } = useCompletion(org.id);
  const request = {
    model: model?.id ?? "",
    messages: [
      ...(system.trim() === "" ? [] : [{ role: "system", content: system }]),
      { role: "user", content: message },
    ],
    ...(maxTokens !== null && { max_tokens: maxTokens }),
    ...(effort !== null && { reasoning_effort: effort }),
  };
  const ready = model !== undefined && key !== "" && message.trim() !== "";
  const running = isRunning(completion);
  return (
    <Stack gap="md">
      <Paper withBorder p="md">
        <Stack gap="sm">
          <Group gap="sm" align="flex-end">
            <Select
              label={words.model}
              w={240}
              allowDeselect={false}
              data={models.map(({ id }) => id)}
              value={model?.id ?? null}
              onChange={(value) => setFilters({ model: value ?? "" })}
            />
            <Select
              label={words.key}
              w={220}
              allowDeselect={false}
              data={keys.map(({ id, name }) => ({ value: id, label: name }))}
              value={key}
              onChange={(value) => setKey(value ?? "")}
            />
            {model?.reasoning && (
              <Select
                label={words.effort}
                w={180}
                placeholder={words.effortDefault}
                clearable
                data={model.reasoning.modes}
                value={effort}
                onChange={setEffort}
              />
            )}
            <NumberInput
              label={words.maxTokens}
              w={180}
              min={1}
              max={model?.max_output_tokens ?? 1}
              allowDecimal={false}
              value={maxTokens ?? ""}
              onChange={(value) => setMaxTokens(typeof value === "number" ? value : null)}
            />
          </Group>
          <Textarea
            label={words.system}
            autosize
            minRows={1}
            value={system}
            onChange={(event) => setSystem(event.currentTarget.value)}
          />
          <Textarea
            label={words.message}
            autosize
            minRows={3}
            maxRows={16}
            value={message}
            onChange={(event) => setMessage(event.currentTarget.value)}
          />
          <Group gap="sm">
            {running ? (
              <Button color="red" onClick={stop}>
                {words.stop}
              </Button>
            ) : (
              <Button disabled={!ready} onClick={() => void start({ key, request })}>
                {words.send}
              </Button>
            )}
            <Button variant="default" onClick={code.toggle} aria-expanded={codeShown}>
              {words.code}
            </Button>
            {ready && !running && <Bound org={org.id} paidBy={key} request={request} />}
          </Group>
          <Collapse expanded={codeShown}>
            <Code block className="pre" tabIndex={0}>
              {printCurl(baseUrl, request)}
            </Code>
          </Collapse>
        </Stack>
      </Paper>
      <Answer of={completion} org={org.id} />
    </Stack>
  );
}

/** What this request would hold, asked of the gateway itself. */
function Bound({ org, paidBy, request }: { org: string; paidBy: string; request: object }) {
  const [asked] = useDebouncedValue(request, 400);
  const quote = useQuery(quoteQuery(org, { key: paidBy, request: asked }));
  if (quote.error !== null) return <Refused error={quote.error} org={org} />;
  if (quote.data === undefined) return null;
  return (
    <Text size="sm" c="dimmed" role="status">
      {words.upTo} <Money usd={quote.data.max_charge_usd} /> {words.isHeld}
    </Text>
  );
}
