// The menu of the signed-in person: name, theme, the other area, sign out.
import { ActionIcon, Menu, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { signOut } from "../api/auth.ts";
import { queryClient } from "../api/query-client.ts";
import type { Session } from "../api/session.ts";
import { Keyboard } from "../keyboard.tsx";
import { path } from "../path-builder.ts";
import { pageNames, shellTexts as words, shortcutTexts } from "./texts.ts";
import { Icon } from "./icon.tsx";
import { BareLink } from "./link.tsx";

interface PersonMenuProps {
  session: Session;
  /** The address of this person's own account page. */
  settings: string;
}

export function PersonMenu({ session, settings }: PersonMenuProps) {
  const navigate = useNavigate();
  const leave = useMutation({
    mutationFn: signOut,
    onSuccess: () => {
      queryClient.clear();
      void navigate({ to: path.signIn() });
    },
  });
  const [listed, list] = useDisclosure(false);
  const { name, email, operator } = session.person;
  return (
    <>
      <Keyboard listed={listed} list={(open) => (open ? list.open() : list.close())} />
      <Menu position="bottom-end" width={240}>
        <Menu.Target>
          <ActionIcon variant="default" size="lg" aria-label={words.account}>
            <Icon name="people" />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label>
            <Text size="sm" fw={600} className="name" c="var(--mantine-color-text)">
              {name}
            </Text>
            <Text size="xs" className="name">
              {email}
            </Text>
          </Menu.Label>
          <Menu.Item renderRoot={(props) => <BareLink to={settings} {...props} />}>
            {pageNames.settings}
          </Menu.Item>
          {operator && (
            <Menu.Item renderRoot={(props) => <BareLink to={path.operator("home")} {...props} />}>
              {words.operatorArea}
            </Menu.Item>
          )}
          <Menu.Item onClick={list.open}>{shortcutTexts.title}</Menu.Item>
          <Menu.Divider />
          <Menu.Item onClick={() => leave.mutate()}>{words.signOut}</Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </>
  );
}
