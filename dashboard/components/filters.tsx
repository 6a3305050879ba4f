// The filters of a page, as one row of chips beside the search. On narrow screens the unset ones are hidden behind a
// button; the set ones stay visible.
import { Button, Group } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { ReactNode } from "react";
import { tableTexts } from "./texts.ts";
import { Icon } from "./icon.tsx";

/** A chip is any field with a label; its wrapper carries the attributes from `chipOf`. */
export function FilterRow({ children }: { children: ReactNode }) {
  const [opened, { toggle }] = useDisclosure(false);
  return (
    <Group gap="xs" className="filters" data-opened={opened || undefined}>
      {children}
      <Button
        className="unfold"
        variant="default"
        aria-expanded={opened}
        leftSection={<Icon name="filter" size={14} />}
        onClick={toggle}
      >
        {opened ? tableTexts.fewerFilters : tableTexts.filters}
      </Button>
    </Group>
  );
}

interface Chip {
  wrapperProps: Record<`data-${string}`, string>;
}

/** For a filter that is active while it has a value. */
export const chipOf = (isSet: boolean): Chip => ({ wrapperProps: isSet ? { "data-set": "" } : {} });
/** For a field that is never hidden. */
export const KEPT: Chip = { wrapperProps: { "data-kept": "" } };
/** For one that is hidden only on phones. */
export const keptWhereWide = (isSet: boolean): Chip => ({
  wrapperProps: { "data-kept": "wide", ...(isSet && { "data-set": "" }) },
});
