// Open invitations.
import { Button, Text } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useChange } from "../../api/change.ts";
import { moreOf, readPages } from "../../api/read.ts";
import type { Row } from "../../api/routes.ts";
import type { Column } from "../../components/data-table.tsx";
import { ConfirmDialog } from "../../components/dialogs.tsx";
import { Ago } from "../../components/figures.tsx";
import { OpenInvitationsTable } from "../../components/open-invitations.tsx";
import { Section } from "../../components/page.tsx";
import { Loaded } from "../../components/states.tsx";
import { Parts } from "../../components/parts.tsx";
import { type Membership, useMembership } from "../../membership.tsx";
import { teamTexts as words } from "./texts.ts";

type Invitation = Row<"GET /orgs/{org}/invitations">;

export function OpenInvitations({ org }: { org: string }) {
  const { may, mayGive } = useMembership();
  const invitations = useInfiniteQuery(readPages("GET /orgs/{org}/invitations", { org }, { state: "open" }));
  const [withdrawn, setWithdrawn] = useState<Invitation | null>(null);
  return (
    <Section title={words.invitations}>
      {withdrawn !== null && <Withdraw org={org} of={withdrawn} onClose={() => setWithdrawn(null)} />}
      <Loaded query={invitations}>
        {(rows) => (
          <OpenInvitationsTable
            label={words.invitations}
            none={words.noInvitations}
            invitations={rows}
            columns={[...COLUMNS, ...(may("team.change") ? [actions(mayGive, setWithdrawn)] : [])]}
            more={moreOf(invitations)}
          />
        )}
      </Loaded>
    </Section>
  );
}

const COLUMNS: Column<Invitation>[] = [
  {
    title: words.email,
    always: true,
    cell: ({ email }) => (
      <Text size="sm" fw={600} className="name">
        <Parts of={email} />
      </Text>
    ),
  },
  { title: words.role, cell: ({ role }) => words.roles[role] },
  { title: words.invitedBy, cell: ({ invited_by }) => invited_by.name ?? invited_by.id },
  { title: words.expires, always: true, cell: ({ expires_at }) => <Ago at={expires_at} /> },
];

const actions = (mayGive: Membership["mayGive"], withdraw: (of: Invitation) => void): Column<Invitation> => ({
  title: words.columns.actions,
  acts: true,
  always: true,
  figures: true,
  cell: (of) =>
    mayGive(of.role) && (
      <Button
        size="compact-sm"
        variant="subtle"
        aria-label={words.withdrawFor(of.email)}
        onClick={() => withdraw(of)}
      >
        {words.withdraw}
      </Button>
    ),
});

function Withdraw({ org, of, onClose }: { org: string; of: Invitation; onClose: () => void }) {
  const withdraw = useChange(
    "DELETE /orgs/{org}/invitations/{invitation}",
    { org, invitation: of.id },
    onClose,
  );
  return (
    <ConfirmDialog
      title={words.withdrawFor(of.email)}
      action={words.withdrawFor(of.email)}
      mutation={withdraw}
      onClose={onClose}
      onConfirm={() => withdraw.mutate({})}
    >
      {words.withdrawHelp}
    </ConfirmDialog>
  );
}
