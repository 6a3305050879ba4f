// The dialog that invites, and the invitation's link, shown once.
import { TextInput } from "@mantine/core";
import { useState } from "react";
import type { Role } from "../../api/session.ts";
import { useChange } from "../../api/change.ts";
import type { Membership } from "../../membership.tsx";
import { FormDialog } from "../../components/dialogs.tsx";
import { LinkDialog, type ShownLink } from "../../components/link-dialog.tsx";
import { teamTexts as words } from "./texts.ts";
import { RoleChoice } from "./role-choice.tsx";

export interface ActProps {
  org: Membership["org"];
  onClose: () => void;
}

export function Invite({ org, opened, onClose }: ActProps & { opened: boolean }) {
  const [shown, setShown] = useState<ShownLink | null>(null);
  return (
    <>
      {opened && <InviteForm org={org} onClose={onClose} onShown={setShown} />}
      <LinkDialog shown={shown} onClose={() => setShown(null)}>
        {words.sendLink}
      </LinkDialog>
    </>
  );
}

function InviteForm({ org, onClose, onShown }: ActProps & { onShown: (shown: ShownLink) => void }) {
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<Role>("developer");
  const invite = useChange(
    "POST /orgs/{org}/invitations",
    { org: org.id },
    ({ email: invited, link, expires_at, mail }) => {
      onClose();
      onShown({ title: words.linkTitle(invited), link, expiresAt: expires_at, mail });
    },
  );
  return (
    <FormDialog
      title={words.inviteTitle(org.name)}
      action={words.invite}
      mutation={invite}
      disabled={!email.includes("@")}
      onClose={onClose}
      onSubmit={() => invite.mutate({ email: email.trim(), role })}
    >
      <TextInput
        label={words.email}
        data-field="email"
        description={words.emailHelp}
        type="email"
        autoComplete="off"
        data-autofocus
        value={email}
        maxLength={254}
        onChange={(event) => setEmail(event.currentTarget.value)}
      />
      <RoleChoice role={role} setRole={setRole} />
    </FormDialog>
  );
}
