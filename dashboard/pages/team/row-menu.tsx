// The actions on one member, for people who may give that role; the last owner can be neither removed nor demoted.
import { ActionIcon, Menu, Text } from "@mantine/core";
import type { Row } from "../../api/routes.ts";
import { Icon } from "../../components/icon.tsx";
import { useMembership } from "../../membership.tsx";
import { teamTexts as words } from "./texts.ts";

type Member = Row<"GET /orgs/{org}/team">;

export type MemberAct = "role" | "remove" | "leave";

export interface RowMenuProps {
  of: Member;
  owners: number;
  onAct: (act: MemberAct, member: Member) => void;
}

export function RowMenu({ of, owners, onAct }: RowMenuProps) {
  const changeable = useMembership().mayGive(of.role);
  if (!changeable && !of.you) return null;
  const last = of.role === "owner" && owners === 1;
  const leaving = of.you ? "leave" : "remove";
  return (
    <Menu position="bottom-end" withinPortal width={230}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={words.menu(of.email)}>
          <Icon name="down" />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {last && (
          <Menu.Label>
            <Text size="xs">{words.lastOwner}</Text>
          </Menu.Label>
        )}
        {changeable && (
          <Menu.Item disabled={last} onClick={() => onAct("role", of)}>
            {words.changeRole}
          </Menu.Item>
        )}
        <Menu.Item
          disabled={last}
          {...(!last && { c: "var(--tone-bad)" })}
          onClick={() => onAct(leaving, of)}
        >
          {words[leaving]}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
