// The text of an empty list, and a button that clears filters that match nothing.
import { Button, Stack, Text } from "@mantine/core";
import { useNavigate, useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { tableTexts } from "./texts.ts";
import { SORT } from "./order.ts";

export const Sentence = ({ children }: { children: ReactNode }) => (
  <Text c="dimmed" ta="center" p="lg" size="sm">
    {children}
  </Text>
);

/** Without filters: that there is nothing yet. */
export function NoMatch() {
  const { [SORT]: _, ...filters }: Record<string, unknown> = useSearch({ strict: false });
  const navigate = useNavigate();
  if (Object.keys(filters).length === 0) return <Sentence>{tableTexts.nothing}</Sentence>;
  return (
    <Stack align="center" gap={0} pb="lg">
      <Sentence>{tableTexts.noMatch}</Sentence>
      <Button
        variant="default"
        size="compact-sm"
        onClick={() =>
          void navigate({
            to: ".",
            search: ({ [SORT]: sort }: Record<string, unknown>) => ({ [SORT]: sort }),
            resetScroll: false,
          })
        }
      >
        {tableTexts.clear}
      </Button>
    </Stack>
  );
}
