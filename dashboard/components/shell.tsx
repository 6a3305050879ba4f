// The frame around all pages of a signed-in person: where they are, which organization, who they are, where they can
// go.
import { AppShell, Burger, Group, NavLink, ScrollArea, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { Outlet, useLocation } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { shellTexts } from "./texts.ts";
import { Connection } from "./connection.tsx";
import { Icon, type IconName } from "./icon.tsx";
import { BareLink } from "./link.tsx";
import { Logo } from "./logo.tsx";

export interface NavigationGroup {
  title: string | null;
  entries: readonly { to: string; label: string; icon: IconName }[];
}

interface ShellProps {
  groups: readonly NavigationGroup[];
  /** Right of the logo: where the person is. */
  place: ReactNode;
  /** Right end of the header: who the person is. */
  person: ReactNode;
  banner?: ReactNode;
}

export function Shell({ groups, place, person, banner }: ShellProps) {
  const [opened, { toggle, close }] = useDisclosure(false);
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 224, breakpoint: "sm", collapsed: { mobile: !opened } }}
      padding="md"
    >
      <a className="skip-link" href="#content">
        {shellTexts.skip}
      </a>
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap" gap="sm">
          <Group gap="sm" wrap="nowrap" miw={0} flex={1}>
            <Burger
              opened={opened}
              onClick={toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label={shellTexts.menu}
              aria-expanded={opened}
            />
            <span className="wide-only">
              <Logo />
            </span>
            {place}
          </Group>
          <Group gap="xs" wrap="nowrap">
            {person}
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" aria-label={shellTexts.main} onClick={close}>
        <ScrollArea scrollbarSize={6} type="hover">
          {groups.map((group) => (
            <Navigation key={group.title} {...group} />
          ))}
        </ScrollArea>
      </AppShell.Navbar>
      <AppShell.Main id="content" tabIndex={-1}>
        <Connection />
        {banner}
        <div style={{ maxWidth: 1240, marginInline: "auto" }}>
          <Outlet />
        </div>
      </AppShell.Main>
    </AppShell>
  );
}

function Navigation({ title, entries }: NavigationGroup) {
  const pathname = useLocation({ select: (location) => location.pathname });
  return (
    <>
      {title !== null && (
        <Text size="xs" fw={600} c="dimmed" px="sm" pt="md" pb={4}>
          {title}
        </Text>
      )}
      {entries.map(({ to, label, icon }) => {
        const here = pathname === to || pathname.startsWith(`${to}/`);
        return (
          <NavLink
            key={to}
            label={label}
            leftSection={<Icon name={icon} />}
            active={here}
            aria-current={here ? "page" : undefined}
            style={{ borderRadius: "var(--mantine-radius-md)" }}
            renderRoot={(props) => <BareLink to={to} {...props} />}
          />
        );
      })}
    </>
  );
}
