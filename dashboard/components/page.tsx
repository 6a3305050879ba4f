// The frame of every page: the tab's title, one heading that takes the focus after navigation, actions beside it.
import { Alert, Box, Button, Group, Stack, Text, Title } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useDeferredValue, useLayoutEffect, useRef } from "react";
import { useFallen } from "../filters.ts";
import { Arrival, useArrival } from "./arrival.ts";
import { pageTexts } from "./texts.ts";

export function Page({ title, above, lead, actions, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  // Runs with the page's own commit: an effect after the paint could steal the focus from an element that has it
  // already.
  useLayoutEffect(() => {
    document.title = `${title} · Tollgate`;
    heading.current?.focus({ preventScroll: true });
  }, [title]);
  // The heading is rendered at once; the content below it follows in pieces between which the browser paints.
  const begun = useDeferredValue(true, false);
  const { arriving, register } = useArrival(begun);
  return (
    <Stack gap="lg" className="page" data-arriving={arriving || undefined}>
      <Group justify="space-between" align="flex-start" gap="sm">
        <Box maw={680} miw={0} flex="1 1 16rem">
          {above}
          <Title order={1} ref={heading} tabIndex={-1} className="name">
            {title}
          </Title>
          {lead !== undefined && (
            <Text c="dimmed" size="sm" mt={4}>
              {lead}
            </Text>
          )}
        </Box>
        {actions !== undefined && <Group gap="xs">{actions}</Group>}
      </Group>
      <Fallen />
      {begun && <Arrival value={register}>{children}</Arrival>}
    </Stack>
  );
}

/** Tells that the address has invalid filter values, so that the page shows something else than was asked for. */
function Fallen() {
  const fallen = useFallen();
  const navigate = useNavigate();
  const names = Object.keys(fallen);
  if (names.length === 0) return null;
  const without = Object.fromEntries(names.map((name) => [name, undefined]));
  return (
    <Alert color="yellow" variant="light" role="status">
      <Group justify="space-between" gap="xs">
        <Text size="sm" className="name">
          {pageTexts.fallen(names.map((name) => `${name}=${(fallen[name] ?? "").slice(0, SHOWN_LENGTH)}`))}
        </Text>
        <Button
          size="compact-sm"
          variant="default"
          onClick={() =>
            void navigate({
              to: ".",
              search: (now: Record<string, unknown>) => ({ ...now, ...without }),
              replace: true,
              resetScroll: false,
            })
          }
        >
          {pageTexts.leaveOut}
        </Button>
      </Group>
    </Alert>
  );
}

/** The value may have been written by anyone. */
const SHOWN_LENGTH = 60;

interface PageProps {
  title: string;
  /** The link back to the list that this page belongs to. */
  above?: ReactNode;
  lead?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}

/** A section of a page with a title. */
export const Section = ({
  title,
  actions,
  children,
}: {
  title: string;
  actions?: ReactNode;
  children: ReactNode;
}) => (
  <Stack gap="sm" component="section">
    <Group justify="space-between" gap="xs">
      <Title order={2}>{title}</Title>
      {actions}
    </Group>
    {children}
  </Stack>
);
