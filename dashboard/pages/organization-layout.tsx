// The frame around the pages of one organization.
import { Select } from "@mantine/core";
import { Navigate, useNavigate, useParams } from "@tanstack/react-router";
import { useEffect } from "react";
import type { Session } from "../api/session.ts";
import { PersonMenu } from "../components/person-menu.tsx";
import { type NavigationGroup, Shell } from "../components/shell.tsx";
import { ThemeSwitch } from "../components/theme-switch.tsx";
import { rememberOrganization } from "../last-organization.ts";
import { MembershipContext, membershipOf } from "../membership.tsx";
import { ORGANIZATION_PAGES, type OrganizationPage, path } from "../path-builder.ts";
import { texts } from "../texts.ts";
import { SignedIn } from "./signed-in.tsx";

export const OrganizationLayout = () => (
  <SignedIn>{(session) => <Organization session={session} />}</SignedIn>
);

function Organization({ session }: { session: Session }) {
  const { org: id = "" } = useParams({ strict: false }) as { org?: string };
  const navigate = useNavigate();
  const org = session.organizations.find((one) => one.id === id);
  useEffect(() => {
    if (org !== undefined) rememberOrganization(org.id);
  }, [org]);
  if (org === undefined) return <Navigate to={path.home()} replace />;
  return (
    <MembershipContext value={membershipOf(session, org)}>
      <Shell
        groups={navigationOf(org.id)}
        place={
          <Select
            aria-label={texts.shell.organization}
            data={session.organizations.map(({ id: value, name }) => ({ value, label: name }))}
            value={org.id}
            allowDeselect={false}
            w={{ base: 150, sm: 220 }}
            onChange={(next) => next !== null && void navigate({ to: path.organization(next) })}
          />
        }
        person={
          <>
            <ThemeSwitch />
            <PersonMenu session={session} settings={path.organization(org.id, "settings")} />
          </>
        }
      />
    </MembershipContext>
  );
}

const GROUPS: { title: string | null; pages: OrganizationPage[] }[] = [
  { title: null, pages: ["overview"] },
  { title: texts.shell.groups.use, pages: ["keys", "playground", "models", "research"] },
  { title: texts.shell.groups.see, pages: ["activity", "usage", "billing"] },
  { title: texts.shell.groups.rule, pages: ["team", "alerts", "audit", "settings"] },
];

const navigationOf = (org: string): NavigationGroup[] =>
  GROUPS.map(({ title, pages }) => ({
    title,
    entries: pages
      .filter((page) => ORGANIZATION_PAGES.includes(page))
      .map((page) => ({ to: path.organization(org, page), label: texts.pages[page], icon: page })),
  }));
