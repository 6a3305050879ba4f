// What operators do about people and scripts: invite and remove an operator, a way back in, management keys.
import { Alert, Checkbox, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import {
  type ManagementKey,
  type OperatorPerson,
  useCreateManagementKey,
  useInviteOperator,
  useRemoveOperator,
  useResetPerson,
  useRevokeManagementKey,
} from "../../../api/office.ts";
import { ConfirmDialog, FormDialog } from "../../../components/dialogs.tsx";
import type { ShownLink } from "../../../components/link-dialog.tsx";
import { OnceDialog, type Secret } from "../../../components/secret-dialog.tsx";
import { texts } from "../../../texts.ts";

const words = texts.operatorPeople;

interface LinkProps {
  onClose: () => void;
  onLink: (link: ShownLink) => void;
}

export function InviteDialog({ onClose, onLink }: LinkProps) {
  const [email, setEmail] = useState("");
  const invite = useInviteOperator(({ email: invited, link, expires_at }) =>
    onLink({ title: words.linkFor(invited), link, expiresAt: expires_at }),
  );
  return (
    <FormDialog
      opened
      title={words.invite}
      action={words.invite}
      mutation={invite}
      disabled={!email.includes("@")}
      onClose={onClose}
      onSubmit={() => invite.mutate({ email: email.trim() })}
    >
      <Text size="sm">{words.inviteHelp}</Text>
      <TextInput
        label={words.email}
        description={words.emailHelp}
        type="email"
        autoComplete="off"
        data-autofocus
        maxLength={254}
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
      />
    </FormDialog>
  );
}

export function RemoveDialog({ of, onClose }: { of: OperatorPerson; onClose: () => void }) {
  const remove = useRemoveOperator(of.person.id, onClose);
  return (
    <ConfirmDialog
      opened
      title={words.removeTitle(of.email)}
      name={of.email}
      action={words.removeAction(of.email)}
      mutation={remove}
      onClose={onClose}
      onSubmit={() => remove.mutate(null)}
    >
      <Text size="sm">{words.removeHelp}</Text>
    </ConfirmDialog>
  );
}

export function ResetDialog({ of, onClose, onLink }: LinkProps & { of: OperatorPerson }) {
  const [twoFactor, setTwoFactor] = useState(false);
  const reset = useResetPerson(of.person.id, ({ email, link, expires_at }) =>
    onLink({ title: words.linkFor(email), link, expiresAt: expires_at }),
  );
  return (
    <FormDialog
      opened
      title={words.resetTitle(of.email)}
      action={words.reset}
      mutation={reset}
      onClose={onClose}
      onSubmit={() => reset.mutate({ two_factor: twoFactor })}
    >
      <Text size="sm">{words.resetHelp}</Text>
      <Checkbox
        label={words.alsoTwoFactor}
        checked={twoFactor}
        onChange={(event) => setTwoFactor(event.currentTarget.checked)}
      />
    </FormDialog>
  );
}

export function CreateKeyDialog({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState("");
  const [shown, setShown] = useState<Secret | null>(null);
  const [shownBefore, setShownBefore] = useState(false);
  const create = useCreateManagementKey(({ name: named, secret }) =>
    secret === null ? setShownBefore(true) : setShown({ name: named, secret }),
  );
  return shown === null ? (
    <FormDialog
      opened
      title={words.createKey}
      action={words.createKey}
      mutation={create}
      disabled={name.trim() === ""}
      done={shownBefore}
      onClose={onClose}
      onSubmit={() => create.mutate({ name: name.trim() })}
    >
      {shownBefore ? (
        <Alert color="yellow">{texts.secret.replayed}</Alert>
      ) : (
        <TextInput
          label={words.columns.name}
          description={words.keyHelp}
          maxLength={200}
          value={name}
          data-autofocus
          onChange={(event) => setName(event.currentTarget.value)}
        />
      )}
    </FormDialog>
  ) : (
    <OnceDialog
      shown={shown}
      title={words.keyTitle}
      lead={words.keyOnce}
      env={(secret) => `TOLLGATE_URL=${location.origin}\nTOLLGATE_TOKEN=${secret}\n`}
      onClose={onClose}
    />
  );
}

export function RevokeKeyDialog({ of, onClose }: { of: ManagementKey; onClose: () => void }) {
  const revoke = useRevokeManagementKey(of.id, onClose);
  return (
    <ConfirmDialog
      opened
      title={words.revokeTitle(of.name)}
      name={of.name}
      action={words.revokeAction(of.name)}
      mutation={revoke}
      onClose={onClose}
      onSubmit={() => revoke.mutate(null)}
    >
      <Text size="sm">{words.revokeHelp}</Text>
    </ConfirmDialog>
  );
}
