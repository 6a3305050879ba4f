// What operators do about people and scripts: invite and remove an operator, reset a sign-in, manage management keys.
import { Alert, Checkbox, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { useChange } from "../../../api/change.ts";
import type { Row } from "../../../api/routes.ts";
import { ConfirmDialog, FormDialog } from "../../../components/dialogs.tsx";
import type { ShownLink } from "../../../components/link-dialog.tsx";
import { OnceDialog, type Secret } from "../../../components/secret-dialog.tsx";
import { operatorPeopleTexts as words } from "./texts.ts";
import { dialogTexts, secretTexts } from "../../../components/texts.ts";

type ManagementKey = Row<"GET /operator/management-keys">;
type OperatorPerson = Row<"GET /operator/people">;

interface LinkProps {
  onClose: () => void;
  onLink: (link: ShownLink) => void;
}

export function InviteDialog({ onClose, onLink }: LinkProps) {
  const [email, setEmail] = useState("");
  const invite = useChange("POST /operator/people", {}, ({ email: invited, link, expires_at, mail }) =>
    onLink({ title: words.linkFor(invited), link, expiresAt: expires_at, mail }),
  );
  return (
    <FormDialog
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
        data-field="email"
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
  const remove = useChange("DELETE /operator/people/{person}", { person: of.person.id }, onClose);
  return (
    <ConfirmDialog
      title={words.removeTitle(of.email)}
      name={of.email}
      typeName={dialogTexts.typeEmail}
      action={words.removeAction(of.email)}
      mutation={remove}
      onClose={onClose}
      onConfirm={() => remove.mutate({})}
    >
      {words.removeHelp}
    </ConfirmDialog>
  );
}

export function ResetDialog({ of, onClose, onLink }: LinkProps & { of: OperatorPerson }) {
  const [twoFactor, setTwoFactor] = useState(false);
  const reset = useChange(
    "POST /operator/people/{person}/reset",
    { person: of.person.id },
    ({ email, link, expires_at, mail }) =>
      onLink({ title: words.linkFor(email), link, expiresAt: expires_at, mail }),
  );
  return (
    <FormDialog
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
  const create = useChange("POST /operator/management-keys", {}, ({ name: named, secret }) =>
    secret === null ? setShownBefore(true) : setShown({ name: named, secret }),
  );
  return shown === null ? (
    <FormDialog
      title={words.createKey}
      action={words.createKey}
      mutation={create}
      disabled={name.trim() === ""}
      done={shownBefore}
      onClose={onClose}
      onSubmit={() => create.mutate({ name: name.trim() })}
    >
      {shownBefore ? (
        <Alert color="yellow">{secretTexts.replayed}</Alert>
      ) : (
        <TextInput
          label={words.columns.name}
          data-field="name"
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
  const revoke = useChange("POST /operator/management-keys/{key}/revoke", { key: of.id }, onClose);
  return (
    <ConfirmDialog
      title={words.revokeTitle(of.name)}
      name={of.name}
      id={of.id}
      action={words.revokeAction(of.name)}
      mutation={revoke}
      onClose={onClose}
      onConfirm={() => revoke.mutate({})}
    >
      {words.revokeHelp}
    </ConfirmDialog>
  );
}
