// The product's name and its logo, a gate.
import { Group, Text } from "@mantine/core";
import { shellTexts } from "./texts.ts";

export const Logo = () => (
  <Group gap={8} wrap="nowrap">
    <svg width="26" height="26" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="7" fill="#364fc7" />
      <path d="M8 24V10m16 14V10M8 13h16" stroke="#fff" strokeWidth="3" strokeLinecap="round" />
      <circle cx="16" cy="19.5" r="2.5" fill="#fff" />
    </svg>
    <Text fw={700} fz="lg" component="span">
      {shellTexts.product}
    </Text>
  </Group>
);
