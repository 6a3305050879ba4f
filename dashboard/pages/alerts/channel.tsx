// Adding a channel: a webhook with its address, whose signing secret is shown once, or a member's mailbox, if this
// gateway sends mail.
import { Alert, SegmentedControl, TextInput } from "@mantine/core";
import { useState } from "react";
import { useChange } from "../../api/change.ts";
import { FormDialog } from "../../components/dialogs.tsx";
import { OnceDialog, type Secret } from "../../components/secret-dialog.tsx";
import { alertsTexts as words } from "./texts.ts";
import { secretTexts } from "../../components/texts.ts";

type Kind = "webhook" | "mail";

interface ChannelProps {
  org: string;
  /** True if this gateway sends mail. */
  mail: boolean;
  /** The current person's mailbox, which is offered first. */
  ownAddress: string;
  onClose: () => void;
}

export function ChannelDialog({ org, mail, ownAddress, onClose }: ChannelProps) {
  const [kind, setKind] = useState<Kind>(mail ? "mail" : "webhook");
  const [name, setName] = useState("");
  const [target, setTarget] = useState(mail ? ownAddress : "https://");
  const [shown, setShown] = useState<Secret | null>(null);
  const [shownBefore, setShownBefore] = useState(false);
  const add = useChange("POST /orgs/{org}/alerts/channels", { org }, (made) => {
    if (made.kind === "mail") onClose();
    else if (made.secret === null) setShownBefore(true);
    else setShown({ name: made.name, secret: made.secret });
  });
  const choose = (chosen: string): void => {
    const next = chosen === "mail" ? "mail" : "webhook";
    setKind(next);
    setTarget(next === "mail" ? ownAddress : "https://");
  };
  return shown === null ? (
    <FormDialog
      title={words.addChannel}
      action={words.addChannel}
      mutation={add}
      disabled={name.trim() === "" || !(kind === "mail" ? /.@./ : /^https?:\/\/./).test(target.trim())}
      done={shownBefore}
      onClose={onClose}
      onSubmit={() => add.mutate({ kind, name: name.trim(), target: target.trim() })}
    >
      {shownBefore ? (
        <Alert color="yellow">{secretTexts.replayed}</Alert>
      ) : (
        <>
          {mail && (
            <SegmentedControl
              fullWidth
              aria-label={words.columns.kind}
              data={(["mail", "webhook"] as const).map((value) => ({ value, label: words.kinds[value] }))}
              value={kind}
              onChange={choose}
            />
          )}
          <TextInput
            label={words.columns.name}
            data-field="name"
            maxLength={200}
            value={name}
            data-autofocus
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <TextInput
            type={kind === "mail" ? "email" : "url"}
            label={kind === "mail" ? words.mailbox : words.address}
            data-field="target"
            description={kind === "mail" ? words.mailboxHelp : words.addressHelp}
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
