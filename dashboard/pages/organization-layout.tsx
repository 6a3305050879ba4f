// The frame around the pages of one organization.
import { Alert, Group, Select, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { type ReactNode, useEffect } from "react";
import { organizationNameQuery } from "../api/organizations.ts";
import type { Session } from "../api/session.ts";
import { Front } from "../components/front.tsx";
import { ButtonLink, Link } from "../components/link.tsx";
import { PersonMenu } from "../components/person-menu.tsx";
import { Redirect } from "../components/redirect.tsx";
import { type NavigationGroup, Shell } from "../components/shell.tsx";
import { Failure, Loading } from "../components/states.tsx";
import { ThemeSwitch } from "../components/theme-switch.tsx";
import { rememberOrganization } from "../last-organization.ts";
import { maySee, MembershipContext, membershipOf, type OwnStanding } from "../membership.tsx";
import { type OrganizationPage, path } from "../path-builder.ts";
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
  if (org === undefined)
    return session.person.operator ? <AsOperator session={session} id={id} /> : <Redirect to={path.home()} />;
  return (
    <Frame
      session={session}
      org={org}
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
    />
  );
}

/** No impersonation: an operator looks in under their own name, and sees so on every page. */
function AsOperator({ session, id }: { session: Session; id: string }) {
  const name = useQuery(organizationNameQuery(id));
  if (name.data === undefined)
    return name.isPending ? (
      <Loading lines={6} />
    ) : (
      <Front title={texts.shell.organization}>
        <Failure error={name.error} />
        <Link to={path.operator()}>{texts.organizations.backToAll}</Link>
      </Front>
    );
  return (
    <Frame
      session={session}
      org={{ id, name: name.data, role: "operator" }}
      place={
        <Text fw={600} className="name" lineClamp={1}>
          {name.data}
        </Text>
      }
      banner={
        <Alert color="yellow" mb="md" p="xs">
          <Group justify="space-between" gap="xs">
            <Text size="sm">{texts.organizations.viewing}</Text>
            <ButtonLink to={path.operator()} variant="default" size="compact-sm">
              {texts.organizations.backToAll}
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

const Frame = ({ session, org, place, banner }: FrameProps) => (
  <MembershipContext value={membershipOf(session, org)}>
    <Shell
      groups={navigationOf(org)}
      place={place}
      banner={banner}
      person={
        <>
          <ThemeSwitch />
          <PersonMenu session={session} settings={path.organization(org.id, "settings")} />
        </>
      }
    />
  </MembershipContext>
);

const GROUPS: { title: string | null; pages: OrganizationPage[] }[] = [
  { title: null, pages: ["overview"] },
  { title: texts.shell.groups.use, pages: ["keys", "playground", "models", "research"] },
  { title: texts.shell.groups.see, pages: ["activity", "usage", "billing"] },
  { title: texts.shell.groups.rule, pages: ["team", "alerts", "audit", "settings"] },
];

const navigationOf = ({ id, role }: OwnStanding): NavigationGroup[] =>
  GROUPS.map(({ title, pages }) => ({
    title,
    entries: pages
      .filter((page) => maySee(role, page))
      .map((page) => ({ to: path.organization(id, page), label: texts.pages[page], icon: page })),
  }));
