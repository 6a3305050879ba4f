// Team: the organization's members, invitations, roles, removal.
import { Button } from "@mantine/core";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { moreOf, read, readPages } from "../../api/read.ts";
import { DataTable } from "../../components/data-table.tsx";
import { FilterRow } from "../../components/filters.tsx";
import { Icon } from "../../components/icon.tsx";
import { Page, Section } from "../../components/page.tsx";
import { SearchField } from "../../components/search-field.tsx";
import { Loaded } from "../../components/states.tsx";
import { text as textFilter, useFilters } from "../../filters.ts";
import { useMembership } from "../../membership.tsx";
import { pageNames } from "../../components/texts.ts";
import { teamTexts as words } from "./texts.ts";
import { type Act, TeamActs } from "./acts.tsx";
import { memberColumns } from "./columns.tsx";
import { OpenInvitations } from "./invitations.tsx";

const SHAPE = { search: textFilter() };

export function TeamPage() {
  const { org, may } = useMembership();
  const [{ search }, setFilters] = useFilters(SHAPE);
  const team = useInfiniteQuery(readPages("GET /orgs/{org}/team", { org: org.id }, { search }));
  const { data: counted } = useQuery(read("GET /orgs/{org}/team", { org: org.id }, { limit: 1 }));
  const [act, setAct] = useState<Act | null>(null);
  const invite = may("team.change") ? (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setAct({ kind: "invite" })}>
      {words.invite}
    </Button>
  ) : undefined;
  return (
    <Page title={pageNames.team} lead={words.lead} actions={invite}>
      <Loaded query={team}>
        {(rows) => (
          <>
            <Section title={words.members}>
              <FilterRow>
                <SearchField
                  label={words.search}
                  value={search}
                  onSearch={(text) => setFilters({ search: text }, { typed: true })}
                />
              </FilterRow>
              <DataTable
                label={words.members}
                rows={rows}
                rowKey={({ person }) => person.id}
                columns={memberColumns({
                  org: org.id,
                  owners: counted?.owners ?? 1,
                  onAct: (kind, member) => setAct({ kind, member }),
                })}
                more={moreOf(team)}
              />
            </Section>
            <OpenInvitations org={org.id} />
          </>
        )}
      </Loaded>
      <TeamActs org={org} act={act} onClose={() => setAct(null)} />
    </Page>
  );
}
