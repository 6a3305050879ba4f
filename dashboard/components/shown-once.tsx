// While something is shown that is shown only once: going back or elsewhere asks first, and so does a reload.
import { Alert, Button, Group, Text } from "@mantine/core";
import { useBlocker } from "@tanstack/react-router";
import { onceTexts as words } from "./texts.ts";

export function AskBeforeLeaving() {
  const leaving = useBlocker({
    // Another filter is the same page.
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
