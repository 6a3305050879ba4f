// The accounts of people, which of them are operators of this gateway, and the management keys of scripts.
import { Button, Stack, Text } from "@mantine/core";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { moreOf, readPages } from "../../../api/read.ts";
import type { Row } from "../../../api/routes.ts";
import { sessionQuery } from "../../../api/session.ts";
import { type Column, DataTable } from "../../../components/data-table.tsx";
import { Ago } from "../../../components/figures.tsx";
import { FilterRow } from "../../../components/filters.tsx";
import { Icon } from "../../../components/icon.tsx";
import { LinkDialog, type ShownLink } from "../../../components/link-dialog.tsx";
import { Page } from "../../../components/page.tsx";
import { RowActs } from "../../../components/row-acts.tsx";
import { SearchField } from "../../../components/search-field.tsx";
import { Loaded } from "../../../components/states.tsx";
import { text as textFilter, useFilters } from "../../../filters.ts";
import { operatorPageNames } from "../../../components/texts.ts";
import { Parts } from "../../../components/parts.tsx";
import { operatorPeopleTexts as words } from "./texts.ts";
import { OperatorInvitations } from "./invitations.tsx";
import { type ManagementKey, ManagementKeys } from "./management-keys.tsx";
import { CreateKeyDialog, InviteDialog, RemoveDialog, ResetDialog, RevokeKeyDialog } from "./acts.tsx";
import { nameAmong, useNamesakes } from "../../../components/organization-name.tsx";

type OperatorPerson = Row<"GET /operator/people">;

type Act =
  | { kind: "invite" | "createKey" }
  | { kind: "reset" | "remove"; of: OperatorPerson }
  | { kind: "revokeKey"; of: ManagementKey };

const SHAPE = { search: textFilter() };

export function PeoplePage() {
  const [{ search }, setFilters] = useFilters(SHAPE);
  const people = useInfiniteQuery(readPages("GET /operator/people", {}, { search }));
  const [act, setAct] = useState<Act | null>(null);
  const [link, setLink] = useState<ShownLink | null>(null);
  const { data: session } = useQuery(sessionQuery);
  const close = (): void => setAct(null);
  const showLink = (shown: ShownLink): void => {
    close();
    setLink(shown);
  };
  const invite = (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setAct({ kind: "invite" })}>
      {words.invite}
    </Button>
  );
  return (
    <Page title={operatorPageNames.people} lead={words.lead} actions={invite}>
      <FilterRow>
        <SearchField
          label={words.search}
          value={search}
          onSearch={(text) => setFilters({ search: text }, { typed: true })}
        />
      </FilterRow>
      <Loaded query={people}>
        {(rows) => (
          <DataTable
            label={operatorPageNames.people}
            rows={rows}
            more={moreOf(people)}
            rowKey={({ person }) => person.id}
            columns={personColumns({
              you: session?.person.id,
              act: (kind, of) => setAct({ kind, of }),
            })}
          />
        )}
      </Loaded>
      <OperatorInvitations onLink={showLink} />
      <ManagementKeys
        onCreate={() => setAct({ kind: "createKey" })}
        onRevoke={(of) => setAct({ kind: "revokeKey", of })}
      />
      {act?.kind === "invite" && <InviteDialog onClose={close} onLink={showLink} />}
      {act?.kind === "remove" && <RemoveDialog of={act.of} onClose={close} />}
      {act?.kind === "reset" && <ResetDialog of={act.of} onClose={close} onLink={showLink} />}
      {act?.kind === "createKey" && <CreateKeyDialog onClose={close} />}
      {act?.kind === "revokeKey" && <RevokeKeyDialog of={act.of} onClose={close} />}
      <LinkDialog shown={link} onClose={() => setLink(null)}>
        {words.sendLink}
      </LinkDialog>
    </Page>
  );
}

interface PersonTerms {
  /** Nobody can take the role from themselves. */
  you: string | undefined;
  act: (kind: "reset" | "remove", of: OperatorPerson) => void;
}

const personColumns = ({ you, act }: PersonTerms): Column<OperatorPerson>[] => [
  {
    title: words.columns.name,
    always: true,
    cell: ({ person, email }) => (
      <Stack gap={0}>
        <Text size="sm" fw={600} className="name">
          {person.name ?? "–"}
        </Text>
        <Text size="xs" c="dimmed" className="name">
          <Parts of={email} />
        </Text>
      </Stack>
    ),
  },
  { title: words.columns.operator, cell: ({ operator }) => (operator ? words.yes : words.no) },
  { title: words.columns.twoFactor, cell: ({ two_factor }) => (two_factor ? words.on : words.off) },
  {
    title: words.columns.organizations,
    cell: ({ memberships }) => <Memberships of={memberships} />,
  },
  {
    title: words.columns.seen,
    cell: ({ last_seen_at }) => <Ago at={last_seen_at} never={words.notSignedIn} />,
  },
  {
    title: words.columns.actions,
    acts: true,
    always: true,
    cell: (of) => (
      <RowActs
        label={words.menu(of.email)}
        acts={[
          { label: words.reset, act: () => act("reset", of) },
          ...(of.operator && of.person.id !== you
            ? [{ label: words.remove, act: () => act("remove", of) }]
            : []),
        ]}
      />
    ),
  },
];

function Memberships({ of }: { of: OperatorPerson["memberships"] }) {
  const namesakes = useNamesakes();
  const names = of.map(({ org, name, role }) => `${nameAmong(namesakes, { id: org, name })} (${role})`);
  return names.join(", ") || "–";
}
