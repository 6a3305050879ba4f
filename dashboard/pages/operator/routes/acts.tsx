// Disabling a route, with the reason that its callers read, and enabling it again.
import { Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { useDisableRoute, useEnableRoute } from "../../../api/house.ts";
import { ConfirmDialog, FormDialog } from "../../../components/dialogs.tsx";
import { texts } from "../../../texts.ts";

const words = texts.operatorRoutes;

export function DisableDialog({ route, onClose }: { route: string; onClose: () => void }) {
  const [reason, setReason] = useState("");
  const disable = useDisableRoute(onClose);
  return (
    <ConfirmDialog
      opened
      title={words.disableTitle(route)}
      name={route}
      action={words.disableAction(route)}
      mutation={disable}
      disabled={reason.trim() === ""}
      onClose={onClose}
      onSubmit={() => disable.mutate({ route, reason: reason.trim() })}
    >
      <Text size="sm" mb="xs">
        {words.disableHelp}
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

export function EnableDialog({ route, onClose }: { route: string; onClose: () => void }) {
  const enable = useEnableRoute(onClose);
  return (
    <FormDialog
      opened
      title={words.enableTitle(route)}
      action={words.enable}
      mutation={enable}
      onClose={onClose}
      onSubmit={() => enable.mutate({ route })}
    >
      <Text size="sm">{words.enableHelp}</Text>
    </FormDialog>
  );
}
