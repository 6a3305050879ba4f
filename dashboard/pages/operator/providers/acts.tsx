// What an operator does about a provider by hand: asks whether it is well, opens its breaker, closes it.
import { Button, Group, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { type Provider, useCloseBreaker, useOpenBreaker, useProbe } from "../../../api/house.ts";
import { ConfirmDialog, FormDialog } from "../../../components/dialogs.tsx";
import { Failure } from "../../../components/states.tsx";
import { formatSpan } from "../../../format/time.ts";
import { texts } from "../../../texts.ts";

const words = texts.operatorProviders;

export function Acts({ of }: { of: Provider }) {
  const [asking, setAsking] = useState(false);
  const probe = useProbe(of.name);
  return (
    <>
      <Group gap="xs">
        {of.probed && (
          <Button
            variant="default"
            size="compact-sm"
            loading={probe.isPending}
            onClick={() => probe.mutate()}
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
        <Text size="sm" role="status">
          {probe.data !== undefined &&
            (probe.data.well
              ? words.well(formatSpan(probe.data.ms))
              : words.unwell(formatSpan(probe.data.ms)))}
        </Text>
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
  const [reason, setReason] = useState("");
  const open = useOpenBreaker(provider, onClose);
  return (
    <ConfirmDialog
      opened
      title={words.openOf(provider)}
      name={provider}
      action={words.open}
      mutation={open}
      onClose={onClose}
      onSubmit={() => open.mutate({ reason: reason.trim() || words.noReason })}
    >
      <Text size="sm" mb="xs">
        {words.openHelp}
      </Text>
      <TextInput
        label={words.reason}
        value={reason}
        maxLength={200}
        onChange={(event) => setReason(event.currentTarget.value)}
      />
    </ConfirmDialog>
  );
}

function CloseDialog({ provider, onClose }: DialogProps) {
  const close = useCloseBreaker(provider, onClose);
  return (
    <FormDialog
      opened
      title={words.closeOf(provider)}
      action={words.close}
      mutation={close}
      onClose={onClose}
      onSubmit={() => close.mutate()}
    >
      <Text size="sm">{words.closeHelp}</Text>
    </FormDialog>
  );
}
