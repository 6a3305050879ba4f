// An operator's manual actions on a provider: check its health, open its breaker, close it.
import { Button, Group, Text } from "@mantine/core";
import { useState } from "react";
import { useChange } from "../../../api/change.ts";
import { useAsk } from "../../../api/read.ts";
import type { Row } from "../../../api/routes.ts";
import { ConfirmDialog } from "../../../components/dialogs.tsx";
import { Failure } from "../../../components/states.tsx";
import { formatSpan } from "../../../format/time.ts";
import { operatorProvidersTexts as words } from "./texts.ts";

type Provider = Row<"GET /operator/providers">;

export function Acts({ of }: { of: Provider }) {
  const [asking, setAsking] = useState(false);
  const probe = useAsk("POST /operator/providers/{provider}/probe", { provider: of.name });
  return (
    <>
      <Group gap="xs">
        {/* Present before it has text, so that screen readers announce the text; takes no room until then. */}
        <Text
          size="sm"
          role="status"
          me={probe.data === undefined ? "calc(-1 * var(--mantine-spacing-xs))" : 0}
        >
          {probe.data !== undefined &&
            (probe.data.well
              ? words.well(formatSpan(probe.data.ms))
              : words.unwell(formatSpan(probe.data.ms)))}
        </Text>
        {of.probed && (
          <Button
            variant="default"
            size="compact-sm"
            loading={probe.isPending}
            onClick={() => probe.mutate({})}
            aria-label={words.probeOf(of.name)}
          >
            {words.probe}
          </Button>
        )}
        <Button
          variant="default"
          size="compact-sm"
          onClick={() => setAsking(true)}
          aria-label={of.opened === null ? words.openOf(of.name) : words.closeOf(of.name)}
        >
          {of.opened === null ? words.open : words.close}
        </Button>
      </Group>
      {probe.error !== null && <Failure error={probe.error} />}
      {asking &&
        (of.opened === null ? (
          <OpenDialog provider={of.name} onClose={() => setAsking(false)} />
        ) : (
          <CloseDialog provider={of.name} onClose={() => setAsking(false)} />
        ))}
    </>
  );
}

interface DialogProps {
  provider: string;
  onClose: () => void;
}

function OpenDialog({ provider, onClose }: DialogProps) {
  const open = useChange("POST /operator/providers/{provider}/open", { provider }, onClose);
  return (
    <ConfirmDialog
      title={words.openOf(provider)}
      name={provider}
      action={words.open}
      mutation={open}
      onClose={onClose}
      reason={{ label: words.reason, maxLength: 200 }}
      onConfirm={(reason) => open.mutate({ reason: reason || words.noReason })}
    >
      {words.openHelp}
    </ConfirmDialog>
  );
}

function CloseDialog({ provider, onClose }: DialogProps) {
  const close = useChange("POST /operator/providers/{provider}/close", { provider }, onClose);
  return (
    <ConfirmDialog
      calm
      title={words.closeOf(provider)}
      action={words.close}
      mutation={close}
      onClose={onClose}
      onConfirm={() => close.mutate({})}
    >
      {words.closeHelp}
    </ConfirmDialog>
  );
}
