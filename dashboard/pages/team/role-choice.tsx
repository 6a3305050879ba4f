// A choice of five roles, each with what it may do; only those that this person may give can be chosen.
import { Radio, Stack } from "@mantine/core";
import { ROLES } from "../../../src/domain/roles.ts";
import type { Role } from "../../api/session.ts";
import { useMembership } from "../../membership.tsx";
import { teamTexts as words } from "./texts.ts";

interface RoleChoiceProps {
  role: Role;
  setRole: (role: Role) => void;
}

export function RoleChoice({ role, setRole }: RoleChoiceProps) {
  const { mayGive } = useMembership();
  return (
    <Radio.Group
      label={words.role}
      value={role}
      onChange={(value) => setRole(ROLES.find((one) => one === value) ?? role)}
    >
      <Stack gap="xs" mt={4}>
        {ROLES.filter(mayGive).map((one) => (
          <Radio key={one} value={one} label={words.roles[one]} description={words.roleHelp[one]} />
        ))}
      </Stack>
    </Radio.Group>
  );
}
