// One role out of five, each with what it may do. Only an owner makes owners.
import type { Standing } from "../../../src/contract/roles.ts";
import { Radio, Stack } from "@mantine/core";
import { ROLES } from "../../../src/contract/roles.ts";
import type { Role } from "../../api/session.ts";
import { texts } from "../../texts.ts";

const words = texts.team;

interface RoleChoiceProps {
  role: Role;
  setRole: (role: Role) => void;
  /** Of the person who chooses. */
  by: Standing;
}

export const RoleChoice = ({ role, setRole, by }: RoleChoiceProps) => (
  <Radio.Group
    label={words.role}
    value={role}
    onChange={(value) => setRole(ROLES.find((one) => one === value) ?? role)}
  >
    <Stack gap="xs" mt={4}>
      {ROLES.filter((one) => one !== "owner" || by === "owner").map((one) => (
        <Radio key={one} value={one} label={words.roles[one]} description={words.roleHelp[one]} />
      ))}
    </Stack>
  </Radio.Group>
);
