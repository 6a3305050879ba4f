// The actions on one row: buttons if there is room, one menu on narrow screens.
import { ActionIcon, Button, Group, Menu } from "@mantine/core";
import { Icon } from "./icon.tsx";
import { BareLink, ButtonLink } from "./link.tsx";

interface RowAct {
  label: string;
  act: (() => void) | { to: string; search?: Record<string, string> };
}

interface RowActsProps {
  /** The menu's label, which names the row. */
  label: string;
  acts: readonly RowAct[];
}

export const RowActs = ({ label, acts }: RowActsProps) => (
  <>
    <Group gap={6} wrap="nowrap" justify="flex-end" visibleFrom="sm">
      {acts.map(({ label: word, act }) =>
        typeof act === "function" ? (
          <Button key={word} size="compact-xs" variant="default" onClick={act}>
            {word}
          </Button>
        ) : (
          <ButtonLink key={word} {...act} size="compact-xs" variant="default">
            {word}
          </ButtonLink>
        ),
      )}
    </Group>
    <Menu position="bottom-end" withinPortal>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={label} hiddenFrom="sm">
          <Icon name="down" />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {acts.map(({ label: word, act }) =>
          typeof act === "function" ? (
            <Menu.Item key={word} onClick={act}>
              {word}
            </Menu.Item>
          ) : (
            <Menu.Item key={word} renderRoot={(props) => <BareLink {...act} {...props} />}>
              {word}
            </Menu.Item>
          ),
        )}
      </Menu.Dropdown>
    </Menu>
  </>
);
