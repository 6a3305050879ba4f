// The settings of the playground: one or two models, the key that pays, limits, system prompt, tools.
import {
  Accordion,
  Button,
  Group,
  NumberInput,
  Select,
  SimpleGrid,
  Stack,
  Switch,
  Text,
  Textarea,
} from "@mantine/core";
import { SPOKEN_SURFACES } from "../../../src/domain/surfaces.ts";
import { KeySelect } from "../../components/key-select.tsx";
import { playgroundTexts as words } from "./texts.ts";
import type { Asked, Terms } from "./terms.ts";
import { EXAMPLE, readTools } from "./tools.ts";

export const Settings = ({ org, terms }: { org: string; terms: Terms }) => (
  <Stack gap="sm">
    <SimpleGrid cols={{ base: 1, xs: 2, lg: 5 }} spacing="sm" verticalSpacing="sm">
      {terms.first && <AskedModel label={words.model} asked={terms.first} terms={terms} />}
      {terms.second && <AskedModel label={words.second} asked={terms.second} terms={terms} />}
      <Select
        label={words.surface}
        allowDeselect={false}
        data={SPOKEN_SURFACES.map((value) => ({ value, label: words.surfaces[value] }))}
        value={terms.surface}
        onChange={terms.setSurface}
      />
      <KeySelect
        org={org}
        label={words.key}
        state="usable"
        called={({ name, blocked_by_limit }) => (blocked_by_limit ? words.keyAtLimit(name) : name)}
        value={terms.key}
        onChange={terms.setKey}
        inForm
      />
      <NumberInput
        label={words.maxTokens}
        placeholder={words.maxTokensDefault}
        min={1}
        max={Math.min(
          ...[terms.first, terms.second].map((asked) => asked?.model.max_output_tokens ?? Infinity),
        )}
        allowDecimal={false}
        value={terms.maxTokens ?? ""}
        onChange={(value) => terms.setMaxTokens(typeof value === "number" ? value : null)}
      />
    </SimpleGrid>
    <Group gap="md">
      <Button
        className="names"
        variant="default"
        size="compact-sm"
        onClick={terms.second === undefined ? terms.compare : terms.single}
      >
        {terms.second === undefined ? words.compare : words.single}
      </Button>
      <Switch
        label={words.stream}
        checked={terms.stream}
        onChange={(event) => terms.setStream(event.currentTarget.checked)}
      />
    </Group>
    <Textarea
      label={words.system}
      autosize
      minRows={1}
      maxRows={10}
      value={terms.system}
      onChange={(event) => terms.setSystem(event.currentTarget.value)}
    />
    <Tools terms={terms} />
  </Stack>
);

const AskedModel = ({
  label,
  asked: { model, effort, setModel, setEffort },
  terms,
}: {
  label: string;
  asked: Asked;
  terms: Terms;
}) => (
  <>
    <Select
      label={label}
      allowDeselect={false}
      data={terms.models.map(({ id }) => id)}
      value={model.id}
      onChange={(id) => id !== null && setModel(id)}
    />
    <Select
      label={words.effort}
      placeholder={model.reasoning === null ? words.effortNone : words.effortDefault(model.reasoning.default)}
      clearable
      disabled={model.reasoning === null}
      data={model.reasoning?.modes ?? []}
      value={effort}
      onChange={setEffort}
    />
  </>
);

const Tools = ({ terms: { tools, setTools, toolsProblem } }: { terms: Terms }) => (
  <Accordion variant="contained">
    <Accordion.Item value="tools">
      <Accordion.Control>
        <Text size="sm" component="span" fw={600}>
          {words.tools}
        </Text>{" "}
        <Text size="sm" component="span" c={toolsProblem === null ? "dimmed" : "red"}>
          {toolsProblem ?? words.toolsCount(readTools(tools).found.length)}
        </Text>
      </Accordion.Control>
      <Accordion.Panel>
        <Stack gap="xs" align="stretch">
          <Textarea
            aria-label={words.tools}
            description={words.toolsHelp}
            autosize
            minRows={4}
            maxRows={20}
            spellCheck={false}
            styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
            value={tools}
            error={toolsProblem}
            onChange={(event) => setTools(event.currentTarget.value)}
          />
          {tools.trim() === "" && (
            <div>
              <Button size="compact-sm" variant="default" onClick={() => setTools(EXAMPLE)}>
                {words.toolsExample}
              </Button>
            </div>
          )}
        </Stack>
      </Accordion.Panel>
    </Accordion.Item>
  </Accordion>
);
