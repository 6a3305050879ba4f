// How this browser shows the dashboard: theme, and the zone of times.
import { Paper, SegmentedControl, Stack, Text } from "@mantine/core";
import { Section } from "../../components/page.tsx";
import { ThemeSwitch } from "../../components/theme-switch.tsx";
import { settingsTexts as words } from "./texts.ts";
import { shellTexts } from "../../components/texts.ts";
import { chooseTimeDisplay, TIME_DISPLAYS, useTimeDisplay } from "../../time-display.ts";

export function Display() {
  const times = useTimeDisplay();
  return (
    <Section title={words.display}>
      <Paper withBorder p="md">
        <Stack gap="xs" align="flex-start">
          <Text size="sm" fw={600}>
            {shellTexts.theme}
          </Text>
          <ThemeSwitch />
          <Text size="sm" fw={600} mt="xs">
            {words.times}
          </Text>
          <SegmentedControl
            aria-label={words.times}
            size="xs"
            value={times}
            onChange={(value) => chooseTimeDisplay(value === "local" ? "local" : "utc")}
            data={TIME_DISPLAYS.map((value) => ({ value, label: words.timeDisplays[value] }))}
          />
          <Text size="xs" c="dimmed">
            {words.timesHelp}
          </Text>
        </Stack>
      </Paper>
    </Section>
  );
}
