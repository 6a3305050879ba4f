// The frame around the pages of one organization.
import { Alert, Group, Select, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { type ReactNode, useEffect, useMemo } from "react";
import { read } from "../api/read.ts";
import type { Session } from "../api/session.ts";
import { Front } from "../components/front.tsx";
import { ButtonLink, Link } from "../components/link.tsx";
import { PersonMenu } from "../components/person-menu.tsx";
import { type NavigationGroup, Shell } from "../components/shell.tsx";
import { Failure, Loading } from "../components/states.tsx";
import { ThemeSwitch } from "../components/theme-switch.tsx";
import { rememberOrganization } from "../last-organization.ts";
import { maySee, MembershipContext, membershipOf, type OwnStanding } from "../membership.tsx";
import { PaletteOpener } from "../palette/opener.tsx";
import { type OrganizationPage, path } from "../path-builder.ts";
import { pageNames, shellTexts } from "../components/texts.ts";
import { SignedIn } from "./signed-in.tsx";
import { nameAmong, OrganizationName } from "../components/organization-name.tsx";
import { namesakesOf } from "../format/namesakes.ts";

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
  if (org === undefined)
    return session.person.operator ? <AsOperator session={session} id={id} /> : <NoMember />;
  return (
    <Frame
      session={session}
      org={{ ...org, operates: session.person.operator }}
      place={
        <Select
          aria-label={shellTexts.organization}
          data={choicesOf(session.organizations)}
          value={org.id}
          allowDeselect={false}
          w={{ base: "100%", sm: 220 }}
          maw={260}
          styles={{ input: { textOverflow: "ellipsis" } }}
          onChange={(next) => next !== null && void navigate({ to: path.organization(next) })}
        />
      }
    />
  );
}

function choicesOf(organizations: Session["organizations"]): { value: string; label: string }[] {
  const namesakes = namesakesOf(organizations);
  return organizations.map((one) => ({ value: one.id, label: nameAmong(namesakes, one) }));
}

/** For a link from someone else, or after leaving: the figures of another organization are not shown in its place. */
const NoMember = () => (
  <Front title={shellTexts.organization}>
    <Text>{shellTexts.noMember}</Text>
    <Link to={path.home()}>{shellTexts.back}</Link>
  </Front>
);

/** No impersonation: an operator looks in under their own name, and every page shows that. */
function AsOperator({ session, id }: { session: Session; id: string }) {
  const name = useQuery({
    ...read("GET /orgs/{org}/settings", { org: id }),
    select: (settings) => settings.name,
  });
  if (name.data === undefined)
    return name.isPending ? (
      <Loading lines={6} />
    ) : (
      <Front title={shellTexts.organization}>
        <Failure error={name.error} />
        <Link to={path.operator()}>{shellTexts.allOrganizations}</Link>
      </Front>
    );
  return (
    <Frame
      session={session}
      org={{ id, name: name.data, role: null, operates: true }}
      place={
        <Text fw={600} className="name" lineClamp={1}>
          <OrganizationName id={id} name={name.data} />
        </Text>
      }
      banner={
        <Alert color="yellow" mb="md" p="xs">
          <Group justify="space-between" gap="xs">
            <Text size="sm">{shellTexts.viewing}</Text>
            <ButtonLink to={path.operator()} variant="default" size="compact-sm">
              {shellTexts.allOrganizations}
            </ButtonLink>
          </Group>
        </Alert>
      }
    />
  );
}

interface FrameProps {
  session: Session;
  org: OwnStanding;
  place: ReactNode;
  banner?: ReactNode;
}

function Frame({ session, org, place, banner }: FrameProps) {
  const { id, name, role, operates } = org;
  // The same object until the person or the organization changes: every page reads it, and is rendered again with it.
  const membership = useMemo(
    () => membershipOf(session, { id, name, role, operates }),
    [session, id, name, role, operates],
  );
  return (
    <MembershipContext value={membership}>
      <Shell
        groups={navigationOf(org)}
        place={place}
        banner={banner}
        person={
          <>
            <PaletteOpener
              looker={{ org, organizations: session.organizations, operator: session.person.operator }}
            />
            <ThemeSwitch wide />
            <PersonMenu session={session} settings={path.organization(org.id, "settings")} />
          </>
        }
      />
    </MembershipContext>
  );
}

const GROUPS: { title: string | null; pages: OrganizationPage[] }[] = [
  { title: null, pages: ["overview"] },
  { title: shellTexts.groups.build, pages: ["keys", "playground", "models", "research"] },
  { title: shellTexts.groups.monitor, pages: ["activity", "usage", "billing"] },
  { title: shellTexts.groups.manage, pages: ["team", "alerts", "audit", "settings"] },
];

const navigationOf = (org: OwnStanding): NavigationGroup[] =>
  GROUPS.map(({ title, pages }) => ({
    title,
    entries: pages
      .filter((page) => maySee(org, page))
      .map((page) => ({ to: path.organization(org.id, page), label: pageNames[page], icon: page })),
  }));
