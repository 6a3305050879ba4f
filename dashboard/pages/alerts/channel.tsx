// Adding a webhook: its address, and once, the secret that its deliveries are signed with.
import { Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { useAddChannel } from "../../api/alerts.ts";
import { Copyable } from "../../components/copy.tsx";
import { FormDialog } from "../../components/dialogs.tsx";
import { texts } from "../../texts.ts";

const words = texts.alerts;

export function ChannelDialog({ org, onClose }: { org: string; onClose: () => void }) {
  const [name, setName] = useState("");
  const [target, setTarget] = useState("https://");
  const [secret, setSecret] = useState<string | null>(null);
  const add = useAddChannel(org, (made) => (made.secret === null ? onClose() : setSecret(made.secret)));
  return (
    <FormDialog
      opened
      title={words.addChannel}
      action={secret === null ? words.addChannel : texts.secret.done}
      mutation={add}
      disabled={name.trim() === "" || target.trim().length < "https://x".length}
      onClose={onClose}
      onSubmit={() =>
        secret === null
          ? add.mutate({ kind: "webhook", name: name.trim(), target: target.trim() })
          : onClose()
      }
    >
      {secret === null ? (
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
      ) : (
        <>
          <Text size="sm">{words.secretOnce}</Text>
          <Copyable text={secret} />
        </>
      )}
    </FormDialog>
  );
}
