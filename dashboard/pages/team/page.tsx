// Team: who belongs to the organization, invitations, roles, removal.
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { read } from "../../api/read.ts";
import { DataTable } from "../../components/data-table.tsx";
import { Icon } from "../../components/icon.tsx";
import { Page, Section } from "../../components/page.tsx";
import { Loaded } from "../../components/states.tsx";
import { useMembership } from "../../membership.tsx";
import { pageNames } from "../../components/texts.ts";
import { teamTexts as words } from "./texts.ts";
import { type Act, TeamActs } from "./acts.tsx";
import { memberColumns } from "./columns.tsx";
import { OpenInvitations } from "./invitations.tsx";

export function TeamPage() {
  const { org, may } = useMembership();
  const team = useQuery(read("GET /orgs/{org}/team", { org: org.id }));
  const [act, setAct] = useState<Act | null>(null);
  const invite = may("team.change") ? (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setAct({ kind: "invite" })}>
      {words.invite}
    </Button>
  ) : undefined;
  return (
    <Page title={pageNames.team} lead={words.lead} actions={invite}>
      <Loaded query={team}>
        {({ data }) => (
          <>
            <Section title={words.members}>
              <DataTable
                label={words.members}
                rows={data}
                rowKey={({ person }) => person.id}
                columns={memberColumns({
                  org: org.id,
                  role: org.role,
                  owners: data.filter(({ role }) => role === "owner").length,
                  onAct: (kind, member) => setAct({ kind, member }),
                })}
              />
            </Section>
            <OpenInvitations org={org.id} role={org.role} changeable={may("team.change")} />
          </>
        )}
      </Loaded>
      <TeamActs org={org} act={act} onClose={() => setAct(null)} />
    </Page>
  );
}
