// The frame around the operator's pages. Others are redirected home; the server refuses them anyway.
import { Group, Text } from "@mantine/core";
import type { Session } from "../api/session.ts";
import { ButtonLink } from "../components/link.tsx";
import { PersonMenu } from "../components/person-menu.tsx";
import { Redirect } from "../components/redirect.tsx";
import { type NavigationGroup, Shell } from "../components/shell.tsx";
import { ThemeSwitch } from "../components/theme-switch.tsx";
import { PaletteOpener } from "../palette/opener.tsx";
import { type OperatorPage, path } from "../path-builder.ts";
import { operatorPageNames, shellTexts } from "../components/texts.ts";
import { SignedIn } from "./signed-in.tsx";

export const OperatorLayout = () => (
  <SignedIn>
    {(session) => (session.person.operator ? <Operator session={session} /> : <Redirect to={path.home()} />)}
  </SignedIn>
);

const Operator = ({ session }: { session: Session }) => (
  <Shell
    groups={NAVIGATION}
    place={
      <Group gap="sm" wrap="nowrap">
        <Text fw={600}>{shellTexts.operator}</Text>
        {session.organizations.length > 0 && (
          <ButtonLink to={path.home()} variant="default" size="compact-sm">
            {shellTexts.back}
          </ButtonLink>
        )}
      </Group>
    }
    person={
      <>
        <PaletteOpener
          looker={{ org: null, organizations: session.organizations, operator: session.person.operator }}
        />
        <ThemeSwitch wide />
        <PersonMenu session={session} settings={path.operator("account")} />
      </>
    }
  />
);

const GROUPS: { title: string | null; pages: Exclude<OperatorPage, "account">[] }[] = [
  { title: null, pages: ["home"] },
  { title: shellTexts.groups.customers, pages: ["organizations", "requests", "entitlements", "credits"] },
  { title: shellTexts.groups.platform, pages: ["routes", "providers", "health", "ledger"] },
  { title: shellTexts.groups.manage, pages: ["people", "audit"] },
];

const NAVIGATION: NavigationGroup[] = GROUPS.map(({ title, pages }) => ({
  title,
  entries: pages.map((page) => ({ to: path.operator(page), label: operatorPageNames[page], icon: page })),
}));
