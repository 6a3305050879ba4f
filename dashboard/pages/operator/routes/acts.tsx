// Disabling a route, with the reason shown to its callers, and enabling it again.
import { useChange } from "../../../api/change.ts";
import { ConfirmDialog } from "../../../components/dialogs.tsx";
import { operatorRoutesTexts as words } from "./texts.ts";

export function DisableDialog({ route, onClose }: { route: string; onClose: () => void }) {
  const disable = useChange("POST /operator/routes/disable", {}, onClose);
  return (
    <ConfirmDialog
      title={words.disableTitle(route)}
      name={route}
      action={words.disableAction(route)}
      mutation={disable}
      onClose={onClose}
      reason={{ label: words.reason, maxLength: 200, needed: true }}
      onConfirm={(reason) => disable.mutate({ route, reason })}
    >
      {words.disableHelp}
    </ConfirmDialog>
  );
}

export function EnableDialog({ route, onClose }: { route: string; onClose: () => void }) {
  const enable = useChange("POST /operator/routes/enable", {}, onClose);
  return (
    <ConfirmDialog
      calm
      title={words.enableTitle(route)}
      action={words.enable}
      mutation={enable}
      onClose={onClose}
      onConfirm={() => enable.mutate({ route })}
    >
      {words.enableHelp}
    </ConfirmDialog>
  );
}
