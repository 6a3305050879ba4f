// Copies the support bundle to the clipboard; if the browser forbids that, shows it to be selected by hand.
import { Button, Stack, Text, Textarea } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { get } from "../../../api/client.ts";
import { addressOf } from "../../../api/routes.ts";
import { Icon } from "../../../components/icon.tsx";
import { Failure } from "../../../components/states.tsx";
import { operatorHealthTexts as words } from "./texts.ts";

type Outcome = { copied: true } | { copied: false; text: string };

/** Over plain http browsers have no clipboard. */
const copy = async (text: string): Promise<void> => await navigator.clipboard.writeText(text);

export function SupportBundle() {
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const bundle = useMutation({
    gcTime: 0,
    mutationFn: async () => {
      const text = JSON.stringify(await get<unknown>(addressOf("GET /operator/support-bundle", {})), null, 2);
      await copy(text).then(
        () => setOutcome({ copied: true }),
        () => setOutcome({ copied: false, text }),
      );
    },
  });
  return (
    <Stack gap="xs" align="flex-end">
      <Button
        variant="default"
        leftSection={<Icon name="copy" size={16} />}
        loading={bundle.isPending}
        onClick={() => bundle.mutate()}
      >
        {words.bundle}
      </Button>
      <Text size="sm" role="status">
        {outcome !== null && (outcome.copied ? words.bundleCopied : words.bundleFailed)}
      </Text>
      {outcome?.copied === false && (
        <Textarea
          readOnly
          autosize
          maxRows={12}
          w="100%"
          aria-label={words.bundle}
          value={outcome.text}
          onFocus={(event) => event.currentTarget.select()}
        />
      )}
      {bundle.error !== null && <Failure error={bundle.error} />}
    </Stack>
  );
}
