// Light, dark, or the system's setting.
import { SegmentedControl, useMantineColorScheme, VisuallyHidden } from "@mantine/core";
import { shellTexts } from "./texts.ts";
import { Icon } from "./icon.tsx";

const CHOICES = [
  { value: "light", icon: "sun", word: shellTexts.light },
  { value: "dark", icon: "moon", word: shellTexts.dark },
  { value: "auto", icon: "screen", word: shellTexts.system },
] as const;

/** `wide`: only if there is room; on a phone it is in the settings. */
export function ThemeSwitch({ wide = false }: { wide?: boolean }) {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <SegmentedControl
      aria-label={shellTexts.theme}
      size="xs"
      {...(wide && { visibleFrom: "sm" })}
      value={colorScheme}
      onChange={(value) => setColorScheme(value === "light" || value === "dark" ? value : "auto")}
      data={CHOICES.map(({ value, icon, word }) => ({
        value,
        label: (
          <span title={word}>
            <Icon name={icon} size={14} />
            <VisuallyHidden>{word}</VisuallyHidden>
          </span>
        ),
      }))}
    />
  );
}
