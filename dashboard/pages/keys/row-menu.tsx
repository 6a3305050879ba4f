// The actions on one key.
import { ActionIcon, Menu } from "@mantine/core";
import type { Row } from "../../api/routes.ts";
import { Icon } from "../../components/icon.tsx";
import { rateTexts } from "../../components/texts.ts";
import { keysTexts as words } from "./texts.ts";

type Key = Row<"GET /orgs/{org}/keys">;

export type KeyAct = "edit" | "rates" | "pause" | "resume" | "replace" | "revoke";

export const RowMenu = ({ of, onAct }: { of: Key; onAct: (act: KeyAct, key: Key) => void }) => (
  <Menu position="bottom-end" withinPortal>
    <Menu.Target>
      <ActionIcon variant="subtle" color="gray" aria-label={words.menu(of.name)}>
        <Icon name="down" />
      </ActionIcon>
    </Menu.Target>
    <Menu.Dropdown>
      <Menu.Item onClick={() => onAct("edit", of)}>{words.edit}</Menu.Item>
      <Menu.Item onClick={() => onAct("rates", of)}>{rateTexts.title}</Menu.Item>
      {of.status === "paused" ? (
        <Menu.Item onClick={() => onAct("resume", of)}>{words.resume}</Menu.Item>
      ) : (
        <Menu.Item onClick={() => onAct("pause", of)}>{words.pause}</Menu.Item>
      )}
      <Menu.Item onClick={() => onAct("replace", of)}>{words.replace}</Menu.Item>
      <Menu.Divider />
      <Menu.Item c="var(--tone-bad)" onClick={() => onAct("revoke", of)}>
        {words.revoke}
      </Menu.Item>
    </Menu.Dropdown>
  </Menu>
);
