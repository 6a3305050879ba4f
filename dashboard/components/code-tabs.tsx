// The same thing in several languages, each with its copy button.
import { Code, Group, Stack, Tabs } from "@mantine/core";
import { CopyButton } from "./copy.tsx";

export function CodeTabs({ code }: { code: Readonly<Record<string, string>> }) {
  const ways = Object.entries(code);
  return (
    <Tabs defaultValue={ways[0]?.[0] ?? ""} keepMounted={false}>
      <Tabs.List>
        {ways.map(([way]) => (
          <Tabs.Tab key={way} value={way}>
            {way}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {ways.map(([way, text]) => (
        <Tabs.Panel key={way} value={way} pt="xs">
          <Stack gap="xs">
            <Code block className="pre" tabIndex={0}>
              {text}
            </Code>
            <Group justify="flex-end">
              <CopyButton text={text} />
            </Group>
          </Stack>
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}
