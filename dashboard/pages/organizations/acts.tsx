// The dialogs of the organizations page: make one, rename it, and invite its owner.
import { Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { organizationQuery } from "../../api/organization.ts";
import { useChange } from "../../api/change.ts";
import type { Answer, Row } from "../../api/routes.ts";
import { FormDialog } from "../../components/dialogs.tsx";
import { sinceOpened } from "../../components/meanwhile.tsx";
import { organizationsTexts as words } from "./texts.ts";

type OrganizationRow = Row<"GET /operator/organizations">;
type OwnerInvitation = Answer<"POST /operator/organizations/{org}/invitations">;

interface CreateProps {
  onClose: () => void;
  onCreated: (organization: OrganizationRow) => void;
}

export function CreateOrganization({ onClose, onCreated }: CreateProps) {
  const [name, setName] = useState("");
  const create = useChange("POST /operator/organizations", {}, onCreated);
  return (
    <FormDialog
      title={words.create}
      action={words.create}
      mutation={create}
      disabled={name.trim() === ""}
      onClose={onClose}
      onSubmit={() => create.mutate({ name: name.trim() })}
    >
      <TextInput
        label={words.name}
        data-field="name"
        description={words.nameHelp}
        value={name}
        maxLength={200}
        data-autofocus
        onChange={(event) => setName(event.currentTarget.value)}
      />
    </FormDialog>
  );
}

interface RenameProps {
  of: OrganizationRow;
  onClose: () => void;
}

export function RenameOrganization({ of, onClose }: RenameProps) {
  const [name, setName] = useState(of.name);
  const rename = useChange("PATCH /operator/organizations/{org}", { org: of.id }, onClose);
  const { data: present } = useQuery(organizationQuery(of.id));
  const { on, late } = sinceOpened(rename, of, present);
  return (
    <FormDialog
      title={words.renameTitle(of.name)}
      action={words.rename}
      mutation={rename}
      now={late ? [[words.name, on.name]] : null}
      disabled={name.trim() === "" || name.trim() === on.name}
      onClose={onClose}
      onSubmit={() => rename.mutate({ name: name.trim(), version: on.version })}
    >
      <TextInput
        label={words.name}
        data-field="name"
        description={words.renameHelp}
        value={name}
        maxLength={200}
        data-autofocus
        onChange={(event) => setName(event.currentTarget.value)}
      />
    </FormDialog>
  );
}

interface InviteProps {
  to: Pick<OrganizationRow, "id" | "name" | "members">;
  onClose: () => void;
  onInvited: (invitation: OwnerInvitation) => void;
}

export function InviteOwner({ to, onClose, onInvited }: InviteProps) {
  const [email, setEmail] = useState("");
  const invite = useChange("POST /operator/organizations/{org}/invitations", { org: to.id }, onInvited);
  return (
    <FormDialog
      title={words.inviteTitle(to.name)}
      action={words.invite}
      mutation={invite}
      disabled={email.trim() === ""}
      onClose={onClose}
      onSubmit={() => invite.mutate({ email: email.trim() })}
    >
      <Text size="sm">{to.members === 0 ? words.inviteFirst : words.inviteMore(to.members)}</Text>
      <TextInput
        type="email"
        label={words.email}
        data-field="email"
        value={email}
        maxLength={254}
        autoComplete="off"
        data-autofocus
        onChange={(event) => setEmail(event.currentTarget.value)}
      />
    </FormDialog>
  );
}
