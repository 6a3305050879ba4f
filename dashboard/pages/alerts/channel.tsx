// Adding a webhook: its address, and once, the secret that its deliveries are signed with.
import { Alert, TextInput } from "@mantine/core";
import { useState } from "react";
import { useChange } from "../../api/change.ts";
import { FormDialog } from "../../components/dialogs.tsx";
import { OnceDialog, type Secret } from "../../components/secret-dialog.tsx";
import { alertsTexts as words } from "./texts.ts";
import { secretTexts } from "../../components/texts.ts";

export function ChannelDialog({ org, onClose }: { org: string; onClose: () => void }) {
  const [name, setName] = useState("");
  const [target, setTarget] = useState("https://");
  const [shown, setShown] = useState<Secret | null>(null);
  const [shownBefore, setShownBefore] = useState(false);
  const add = useChange("POST /orgs/{org}/alerts/channels", { org }, ({ name: named, secret }) =>
    secret === null ? setShownBefore(true) : setShown({ name: named, secret }),
  );
  return shown === null ? (
    <FormDialog
      title={words.addChannel}
      action={words.addChannel}
      mutation={add}
      disabled={name.trim() === "" || target.trim().length < "https://x".length}
      done={shownBefore}
      onClose={onClose}
      onSubmit={() => add.mutate({ kind: "webhook", name: name.trim(), target: target.trim() })}
    >
      {shownBefore ? (
        <Alert color="yellow">{secretTexts.replayed}</Alert>
      ) : (
        <>
          <TextInput
            label={words.columns.name}
            maxLength={200}
            value={name}
            data-autofocus
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <TextInput
            type="url"
            label={words.address}
            description={words.addressHelp}
            maxLength={2000}
            value={target}
            onChange={(event) => setTarget(event.currentTarget.value)}
          />
        </>
      )}
    </FormDialog>
  ) : (
    <OnceDialog
      shown={shown}
      title={words.secretTitle}
      lead={words.secretOnce}
      env={(secret) => `WEBHOOK_SECRET=${secret}\n`}
      onClose={onClose}
    />
  );
}
