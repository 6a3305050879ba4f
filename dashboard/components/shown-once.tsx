// The dialog for what is shown only once. Escape and a click outside do nothing; navigating away or reloading asks
// first.
import { Alert, Button, Group, Modal, type ModalProps, Stack, Text } from "@mantine/core";
import { useBlocker } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Icon } from "./icon.tsx";
import { useFocusBack } from "./opener.ts";
import { onceTexts as words } from "./texts.ts";

interface ShownOnceProps extends Pick<ModalProps, "opened" | "onClose" | "title" | "size"> {
  /** Why it is shown only now. */
  lead: ReactNode;
  children: ReactNode;
}

export function ShownOnce({ lead, children, ...modal }: ShownOnceProps) {
  useFocusBack(modal.opened);
  return (
    <Modal {...modal} closeOnEscape={false} closeOnClickOutside={false} withCloseButton={false}>
      {modal.opened && (
        <Stack gap="md">
          <Alert
            color="yellow"
            variant="light"
            icon={<Icon name="warning" />}
            styles={{ icon: { color: "var(--tone-warning)" } }}
          >
            {lead}
          </Alert>
          {children}
        </Stack>
      )}
    </Modal>
  );
}

/** Active until it is stored. */
export function AskBeforeLeaving() {
  const leaving = useBlocker({
    // A different filter is the same page.
    shouldBlockFn: ({ current, next }) => current.pathname !== next.pathname,
    enableBeforeUnload: true,
    withResolver: true,
  });
  if (leaving.status === "idle") return null;
  return (
    <Alert color="red" variant="light" role="alert">
      <Text size="sm">{words.leaving}</Text>
      <Group gap="xs" mt="xs">
        <Button size="compact-sm" variant="default" onClick={leaving.reset}>
          {words.stay}
        </Button>
        <Button size="compact-sm" variant="default" onClick={leaving.proceed}>
          {words.leave}
        </Button>
      </Group>
    </Alert>
  );
}
