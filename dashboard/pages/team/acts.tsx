// The dialogs of the team page: invite, change a role, remove, leave.
import { List, Text } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { type Member, teamQuery, useChangeRole, useLeave, useRemoveMember } from "../../api/team.ts";
import { ConfirmDialog, FormDialog } from "../../components/dialogs.tsx";
import { Link } from "../../components/link.tsx";
import { sinceOpened } from "../../components/meanwhile.tsx";
import type { Membership } from "../../membership.tsx";
import { path } from "../../path-builder.ts";
import { texts } from "../../texts.ts";
import { Invite } from "./invite.tsx";
import type { Act } from "./page.tsx";
import { RoleChoice } from "./role-choice.tsx";

const words = texts.team;

export interface ActProps {
  org: Membership["org"];
  onClose: () => void;
}

export function TeamActs({ org, act, onClose }: ActProps & { act: Act | null }) {
  return (
    <>
      <Invite org={org} opened={act?.kind === "invite"} onClose={onClose} />
      {act?.kind === "role" && <ChangeRole org={org} of={act.member} onClose={onClose} />}
      {act?.kind === "remove" && <Remove org={org} of={act.member} onClose={onClose} />}
      {act?.kind === "leave" && <Leave org={org} of={act.member} onClose={onClose} />}
    </>
  );
}

function ChangeRole({ org, of, onClose }: ActProps & { of: Member }) {
  const [role, setRole] = useState(of.role);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const change = useChangeRole(org.id, of.person.id, () => {
    onClose();
    if (!of.you) return;
    queries.clear();
    void navigate({ to: path.signIn() });
  });
  const { data: team } = useQuery(teamQuery(org.id));
  const { on, late } = sinceOpened(
    change,
    of,
    team?.data.find(({ person }) => person.id === of.person.id),
  );
  return (
    <FormDialog
      opened
      title={words.changeRoleTitle(of.email)}
      action={texts.dialog.save}
      mutation={change}
      now={late ? [[words.role, words.roles[on.role]]] : null}
      disabled={role === on.role}
      onClose={onClose}
      onSubmit={() => change.mutate({ role, version: on.version })}
    >
      <Text size="sm">{of.you ? words.changeOwnRoleHelp : words.changeRoleHelp}</Text>
      <RoleChoice role={role} setRole={setRole} by={org.role} />
    </FormDialog>
  );
}

function Remove({ org, of, onClose }: ActProps & { of: Member }) {
  const remove = useRemoveMember(org.id, of.person.id, onClose);
  return (
    <ConfirmDialog
      opened
      title={words.removeTitle(of.email)}
      name={of.email}
      action={words.removeTitle(of.email)}
      mutation={remove}
      onClose={onClose}
      onSubmit={() => remove.mutate(null)}
    >
      <Consequences org={org} of={of} help={words.removeHelp} />
    </ConfirmDialog>
  );
}

function Leave({ org, of, onClose }: ActProps & { of: Member }) {
  const navigate = useNavigate();
  const leave = useLeave(org.id, () => void navigate({ to: path.home() }));
  return (
    <ConfirmDialog
      opened
      title={words.leaveTitle(org.name)}
      name={org.name}
      action={words.leaveTitle(org.name)}
      mutation={leave}
      onClose={onClose}
      onSubmit={() => leave.mutate(null)}
    >
      <Consequences org={org} of={of} help={words.leaveHelp} />
    </ConfirmDialog>
  );
}

const Consequences = ({ org, of, help }: Pick<ActProps, "org"> & { of: Member; help: string }) => (
  <>
    <Text size="sm">{help}</Text>
    <List size="sm" mt="xs">
      <List.Item>
        {words.keysStay(of.keys)}{" "}
        {of.keys > 0 && <Link to={path.organization(org.id, "keys")}>{texts.pages.keys}</Link>}
      </List.Item>
    </List>
  </>
);
