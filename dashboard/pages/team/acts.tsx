// The dialogs of the team page: invite, change a role, remove, leave.
import { List, Text } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { sessionQuery } from "../../api/session.ts";
import { useChange } from "../../api/change.ts";
import { memberQuery } from "../../api/member.ts";
import type { Row } from "../../api/routes.ts";
import { ConfirmDialog, FormDialog } from "../../components/dialogs.tsx";
import { Link } from "../../components/link.tsx";
import { sinceOpened } from "../../components/meanwhile.tsx";
import { path } from "../../path-builder.ts";
import { dialogTexts, pageNames } from "../../components/texts.ts";
import { teamTexts as words } from "./texts.ts";
import { type ActProps, Invite } from "./invite.tsx";
import type { MemberAct } from "./row-menu.tsx";
import { RoleChoice } from "./role-choice.tsx";

type Member = Row<"GET /orgs/{org}/team">;

/** The open dialog. */
export type Act = { kind: "invite" } | { kind: MemberAct; member: Member };

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
  const change = useChange("PATCH /orgs/{org}/team/{member}", { org: org.id, member: of.person.id }, () => {
    onClose();
    if (!of.you) return;
    queries.clear();
    void navigate({ to: path.signIn() });
  });
  const { data: present } = useQuery(memberQuery(org.id, of.person.id));
  const { on, late } = sinceOpened(change, of, present ?? undefined);
  return (
    <FormDialog
      title={words.changeRoleTitle(of.email)}
      action={dialogTexts.save}
      mutation={change}
      now={late ? [[words.role, words.roles[on.role]]] : null}
      disabled={role === on.role}
      onClose={onClose}
      onSubmit={() => change.mutate({ role, version: on.version })}
    >
      <Text size="sm">{of.you ? words.changeOwnRoleHelp : words.changeRoleHelp}</Text>
      <RoleChoice role={role} setRole={setRole} />
    </FormDialog>
  );
}

function Remove({ org, of, onClose }: ActProps & { of: Member }) {
  const remove = useChange(
    "DELETE /orgs/{org}/team/{member}",
    { org: org.id, member: of.person.id },
    onClose,
  );
  return (
    <ConfirmDialog
      title={words.removeTitle(of.email)}
      name={of.email}
      typeName={dialogTexts.typeEmail}
      action={words.removeTitle(of.email)}
      mutation={remove}
      onClose={onClose}
      onConfirm={() => remove.mutate({})}
    >
      <Consequences org={org} of={of} help={words.removeHelp} />
    </ConfirmDialog>
  );
}

function Leave({ org, of, onClose }: ActProps & { of: Member }) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const leave = useChange("POST /orgs/{org}/leave", { org: org.id }, async () => {
    // The session has one organization less.
    await queries.refetchQueries({ queryKey: sessionQuery.queryKey });
    void navigate({ to: path.home() });
  });
  return (
    <ConfirmDialog
      title={words.leaveTitle(org.name)}
      name={org.name}
      id={org.id}
      action={words.leaveTitle(org.name)}
      mutation={leave}
      onClose={onClose}
      onConfirm={() => leave.mutate({})}
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
        {of.keys > 0 && <Link to={path.organization(org.id, "keys")}>{pageNames.keys}</Link>}
      </List.Item>
    </List>
  </>
);
